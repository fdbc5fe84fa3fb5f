"""Names of columns that are those of outcomes: dates of death, times of follow-up, whether an event came."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["is_outcome_name", "name_words"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that are of an outcome wherever they stand, unless the name says that it was earlier, or another's.
_OUTCOMES = _words(
    # English
    "death deaths died dead deceased mortality dod survival surv censor censored censoring censorship relapse "
    "relapsed recurrence recurred recur progression progressed churn churned followup fup attrition autopsy "
    # written as one word
    "deathdate dateofdeath deathtime causeofdeath survtime survivaltime survdays survmonths futime fustat fudays "
    "lastseen lastcontact lastfollowup ostime osmonths osdays osstatus pfstime pfsmonths pfsstatus dfstime rfstime "
    "rfsstatus timetoevent timetodeath vitalstatus lenfol recdate rectime censdead censrec "
    # German, French, Spanish
    "todesdatum todesursache sterbedatum verstorben gestorben uberleben ueberleben uberlebenszeit rezidiv "
    "deces decede decedee mort survie rechute muerte fallecido fallecida fallecimiento defuncion supervivencia "
    "recaida"
)
# Such words as whole names only: within others they mean something else, as in marital_status or heart_failure.
_WHOLE_NAMES = _words("time event events status outcome fail failed failure cens cod tod duration lifetime dropout")
# End points by their letters, and what beside them makes a name one of an outcome.
_END_POINTS = _words("os pfs dfs rfs efs dss mfs lfs ttp css fu event outcome failure discharge exit")
_MEASURES = _words("time date day days week weeks month months year years status event indicator cens stat end")
_PHRASES = (
    ("follow", "up"),
    ("last", "seen"),
    ("last", "contact"),
    ("last", "alive"),
    ("last", "visit"),
    ("last", "date"),
    ("last", "fu"),
    ("event", "type"),
    ("vital", "status"),
    ("lost", "to"),
    ("time", "to", "event"),
    ("end", "of", "study"),
    ("end", "date"),
    ("length", "of", "stay"),
    ("letzter", "kontakt"),
    ("dernier", "contact"),
    ("derniere", "nouvelle"),
    ("dernieres", "nouvelles"),
    ("ultimo", "contacto"),
)
# What makes such a name one of a covariate: before the start, of another person, or a prediction.
_EARLIER = _words(
    "prior previous previously history hist hx baseline before since pre past family familial fam parent parents "
    "father mother sibling siblings maternal paternal risk score prob probability predicted expected rate fear "
    "frueher fruher antecedent antecedents previo previa"
)


def name_words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case and without accents, however they are joined.

    Examples
    --------
    >>> name_words("dateOfDeath"), name_words("Date de décès"), name_words("OS_months2")
    (('date', 'of', 'death'), ('date', 'de', 'deces'), ('os', 'months', '2'))
    """
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", name[:200]) if not unicodedata.combining(letter))
    return tuple(word.lower() for word in _WORD.findall(plain))


def is_outcome_name(name: str) -> bool:
    """Whether a column is named like an outcome, judged by whole words.

    Examples
    --------
    >>> [name for name in ("death_date", "lastSeen", "marital_status", "prior_relapse") if is_outcome_name(name)]
    ['death_date', 'lastSeen']
    """
    words = name_words(name)
    without_digits = tuple(word for word in words if not word.isdigit())
    present = set(without_digits)
    if not present or present & _EARLIER:
        return False
    if present & _OUTCOMES or (len(without_digits) == 1 and present <= _WHOLE_NAMES):
        return True
    # "event" is one of both: it takes two words.
    if present & _END_POINTS and present & _MEASURES and len(present & (_END_POINTS | _MEASURES)) > 1:
        return True
    return any(_follow_each_other(without_digits, phrase) for phrase in _PHRASES)


def _follow_each_other(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(words[start : start + size] == phrase for start in range(len(words) - size + 1))

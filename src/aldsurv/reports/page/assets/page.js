"use strict";
// Sorts and filters tables that are whole without it. What was chosen stands in the address, so that it can be shared:
// #section&model=ald;deepsurv&search=gbsg&sort=-difference for the main table, NAME.sort=… for the others.
(() => {
  const make = (tag, attributes = {}, text = "") => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.textContent = text;
    return element;
  };
  const byText = new Intl.Collator("en", { numeric: true }).compare;
  const named = (cell) => cell.dataset.k ?? cell.textContent.trim();
  const closed = (menus) => menus.forEach((menu) => { menu.open = false; });

  class SortedTable {
    constructor(element, changed) {
      this.element = element;
      this.changed = changed;
      this.prefix = "main" in element.dataset ? "" : element.dataset.name + ".";
      this.body = element.tBodies[0];
      this.rows = [...this.body.rows];
      this.heads = [...element.tHead.rows[element.tHead.rows.length - 1].cells];
      this.keys = this.heads.map((head) => head.dataset.key);
      this.sort = "";
      this.search = "";
      this.chosen = new Map();
      this.texts = this.rows.map((row) => [...row.cells].map((cell) => cell.textContent + " " + named(cell)).join(" ").toLowerCase());
      this.addSorting();
      if (this.heads.some((head) => "filter" in head.dataset)) this.addFilters();
    }

    addSorting() {
      this.heads.forEach((head, column) => {
        const button = make("button", { type: "button" });
        button.append(...head.childNodes);
        head.append(button);
        head.setAttribute("aria-sort", "none");
        button.addEventListener("click", () => {
          const key = this.keys[column];
          // Up, down, and back to the order that the table came in.
          this.sort = this.sort === key ? "-" + key : this.sort === "-" + key ? "" : key;
          this.show();
          this.changed();
        });
      });
    }

    addFilters() {
      const bar = make("form", { class: "filters", role: "search", "aria-label": "Filter: " + this.element.caption.textContent });
      bar.addEventListener("submit", (event) => event.preventDefault());
      this.heads.forEach((head, column) => {
        if (!("filter" in head.dataset)) return;
        const key = this.keys[column];
        this.chosen.set(key, new Set());
        bar.append(this.menu(key, head.textContent.trim(), column));
      });
      this.field = make("input", { type: "search", placeholder: "Search all words", "aria-label": "Rows with all these words" });
      this.field.addEventListener("input", () => { this.search = this.field.value; this.show(); this.changed(); });
      const reset = make("button", { type: "button" }, "Show all");
      reset.addEventListener("click", () => { this.read(new Map()); this.show(); this.changed(); });
      const save = make("button", { type: "button" }, "Save shown rows");
      save.addEventListener("click", () => this.save());
      this.count = make("output", { class: "count", "aria-live": "polite" });
      bar.append(this.field, reset, save, this.count);
      this.bar = bar;
      this.nothing = make("p", { class: "nothing" }, "No rows match these filters.");
      const scroll = this.element.parentElement;
      scroll.before(bar);
      scroll.append(this.nothing);
    }

    menu(key, title, column) {
      const menu = make("details"), list = make("div", { class: "choices", role: "group", "aria-label": title });
      menu.append(make("summary", {}, title), list);
      const titles = new Map(this.rows.map((row) => [named(row.cells[column]), row.cells[column].textContent.trim()]));
      for (const [value, title] of titles) {
        const box = make("input", { type: "checkbox", name: key, value });
        const label = make("label");
        label.append(box, " " + title);
        list.append(label);
        box.addEventListener("change", () => {
          if (box.checked) this.chosen.get(key).add(value); else this.chosen.get(key).delete(value);
          this.show();
          this.changed();
        });
      }
      return menu;
    }

    read(state) {
      const sort = state.get(this.prefix + "sort") || "";
      this.sort = this.keys.includes(sort.replace(/^-/, "")) ? sort : "";
      this.search = state.get(this.prefix + "search") || "";
      for (const key of this.chosen.keys()) {
        const known = new Set([...this.bar.querySelectorAll("input[type=checkbox]")].filter((box) => box.name === key).map((box) => box.value));
        const wanted = (state.get(this.prefix + key) || "").split(";").filter((value) => known.has(value));
        this.chosen.set(key, new Set(wanted));
      }
    }

    write(state) {
      for (const [key, values] of this.chosen) if (values.size) state.push([this.prefix + key, [...values].join(";")]);
      if (this.search.trim()) state.push([this.prefix + "search", this.search.trim()]);
      if (this.sort) state.push([this.prefix + "sort", this.sort]);
    }

    show() {
      const order = this.rows.map((row, place) => place);
      const column = this.keys.indexOf(this.sort.replace(/^-/, ""));
      const sign = this.sort.startsWith("-") ? -1 : 1;
      this.heads.forEach((head, place) => {
        head.setAttribute("aria-sort", place !== column ? "none" : sign < 0 ? "descending" : "ascending");
      });
      if (column >= 0) order.sort(this.comparison(column, sign));
      this.body.append(...order.map((place) => this.rows[place]));
      if (this.bar) this.filter();
    }

    comparison(column, sign) {
      const cells = this.rows.map((row) => row.cells[column]);
      if (!this.heads[column].classList.contains("n")) {
        const texts = cells.map((cell) => cell.textContent.trim());
        return (a, b) => sign * byText(texts[a], texts[b]) || a - b;
      }
      // What is no number comes last, whichever way round.
      const values = cells.map((cell) => ("v" in cell.dataset ? Number(cell.dataset.v) : NaN));
      return (a, b) => Number.isNaN(values[a]) - Number.isNaN(values[b]) || sign * (values[a] - values[b]) || a - b;
    }

    filter() {
      const words = this.search.toLowerCase().split(/\s+/).filter(Boolean);
      const active = [...this.chosen].filter(([, values]) => values.size).map(([key, values]) => [this.keys.indexOf(key), values]);
      let shown = 0;
      this.rows.forEach((row, place) => {
        const fits = active.every(([column, values]) => values.has(named(row.cells[column])))
          && words.every((word) => this.texts[place].includes(word));
        row.hidden = !fits;
        shown += fits;
      });
      this.count.textContent = shown === this.rows.length ? `${shown} rows` : `${shown} of ${this.rows.length} rows`;
      this.nothing.hidden = shown > 0;
      if (this.field.value !== this.search) this.field.value = this.search;
      for (const box of this.bar.querySelectorAll("input[type=checkbox]")) box.checked = this.chosen.get(box.name).has(box.value);
      [...this.chosen].forEach(([, values], place) => {
        const menu = this.bar.querySelectorAll("details")[place], summary = menu.firstElementChild;
        summary.dataset.title ??= summary.textContent;
        summary.textContent = summary.dataset.title + (values.size ? ": " + [...values].join(", ") : "");
        menu.classList.toggle("chosen", values.size > 0);
      });
    }

    save() {
      const quoted = (text) => (/[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
      const lines = [this.keys.map(quoted).join(",")];
      for (const row of this.body.rows) {
        if (!row.hidden) lines.push([...row.cells].map((cell) => quoted(cell.dataset.v ?? named(cell))).join(","));
      }
      const address = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
      make("a", { href: address, download: this.element.dataset.name + ".csv" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    }
  }

  // The first part may be the place to go to; the rest is NAME=VALUE.
  const parsed = () => {
    const parts = location.hash.slice(1).split("&").filter(Boolean);
    const place = parts.length && !parts[0].includes("=") ? parts.shift() : "";
    const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
    return [place, new Map(parts.map((part) => part.split("=").map(decoded)))];
  };
  let anchor = "";
  const encoded = (text) => encodeURIComponent(text).replaceAll("%3B", ";");
  const remember = () => {
    const state = [];
    tables.forEach((table) => table.write(state));
    const parts = state.map(([name, value]) => encoded(name) + "=" + encoded(value));
    history.replaceState(null, "", "#" + [anchor, ...parts].filter(Boolean).join("&"));
  };
  const tables = [...document.querySelectorAll("table[data-name]")].map((element) => new SortedTable(element, remember));
  const follow = (first) => {
    const [place, state] = parsed();
    // A link to a section says nothing of the tables: they stay as they are.
    if (first || state.size || !place) tables.forEach((table) => { table.read(state); table.show(); });
    anchor = place;
    if (place) document.getElementById(place)?.scrollIntoView();
    remember();
  };
  follow(true);
  addEventListener("hashchange", () => follow(false));
  const menus = [...document.querySelectorAll(".filters details")];
  addEventListener("click", (event) => closed(menus.filter((menu) => !menu.contains(event.target))));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const open = menus.find((menu) => menu.open);
    closed(menus);
    open?.firstElementChild.focus();
  });
})();

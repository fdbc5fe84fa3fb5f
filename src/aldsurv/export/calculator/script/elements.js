// Elements of the page. Text is only ever set as text, so that a name with HTML in it stays a name.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** An element of HTML with attributes and children, which are nodes or texts. */
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function makeSvg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** A named table with a caption for readers who do not see it, heads of columns, and rows whose first cell is their head. */
export function makeTable(name, caption, heads, rows) {
  const cell = (content) => (Array.isArray(content) ? content : [content]);
  return make("div", { class: `scroll ${name}`, tabindex: "0", role: "region", "aria-label": caption },
    make("table", { "data-name": name },
      make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, ...cell(head))))),
      make("tbody", {}, ...rows.map(([first, ...others]) => make("tr", {},
        make("th", { scope: "row" }, ...cell(first)),
        ...others.map((content) => make("td", {}, ...cell(content))))))));
}

/** A name that may break into lines after underscores. */
export function breakable(text) {
  return text.split(/(?<=_)/).flatMap((part, k) => (k ? [make("wbr"), part] : [part]));
}

/** Put new children into an element. */
export function refill(node, ...children) {
  node.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

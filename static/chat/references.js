// References of a report: a line each, opened to the excerpts, patterns and events, or rows that the tool returned.

import { fill, fromTemplate, make, part, showTime, text } from "./dom.js";

export function isMock(reference) {
  return reference.source_kind === "MOCK" || / \(MOCK\)$/.test(reference.source ?? "");
}

export function sourceName(reference) {
  if (reference.source_type === "KNOWLEDGE" && reference.source === "KNOWLEDGE") return text("documents");
  return String(reference.source ?? "").replace(/ \(MOCK\)$/, "");
}

/** `usedBy`: links to the analyses that cite it. */
export function renderReference(reference, id, usedBy) {
  const element = fromTemplate("reference-template");
  element.id = id;
  fill(element, {
    id: reference.reference_id,
    kind: text(reference.source_type),
    source: sourceName(reference),
    scope: reference.scope,
    "full-scope": reference.scope,
  });
  part(element, "mock").hidden = !isMock(reference);
  showTime(part(element, "time"), reference.timestamp);
  if (usedBy.length) part(element, "used-by").append(`${text("usedBy")} `, ...usedBy);
  part(element, "content").append(...body(reference));
  return element;
}

/** References of an answer from documents: excerpts without a report around them. */
export function renderPassage(passage, number, id) {
  const element = fromTemplate("reference-template");
  element.id = id;
  fill(element, { id: String(number), kind: text("KNOWLEDGE"), source: passage.title, scope: passage.breadcrumb });
  part(element, "time").remove();
  part(element, "full-scope").remove();
  part(element, "content").append(excerpt(passage));
  return element;
}

function body(reference) {
  switch (reference.source_type) {
    case "KNOWLEDGE":
      return orNothing((reference.excerpts ?? []).map(excerpt));
    case "LOG":
      return logs(reference);
    default:
      return rows(reference);
  }
}

function orNothing(elements) {
  return elements.length ? elements : [make("p", "muted", text("nothingFound"))];
}

function excerpt(passage) {
  const element = fromTemplate("excerpt-template");
  fill(element, { title: passage.title, breadcrumb: passage.breadcrumb, text: passage.excerpt, source: passage.source });
  return element;
}

function logs(reference) {
  const shown = [];
  const patterns = reference.patterns ?? [];
  const events = reference.events ?? [];
  if (patterns.length) {
    const fields = ["count", "level", "service", "first_seen", "last_seen", "example"];
    const titles = ["count", "level", "service", "firstSeen", "lastSeen", "example"];
    shown.push(table(text("patterns"), titles.map((title) => text(title)), fields, patterns));
  }
  if (events.length) {
    const details = fromTemplate("events-template");
    fill(details, { title: text("events", { count: events.length }) });
    const fields = ["timestamp", "level", "service", "message"];
    details.append(table(text("events", { count: events.length }), ["time", "level", "service", "message"].map((title) => text(title)), fields, events));
    shown.push(details);
  }
  return orNothing(shown);
}

function rows(reference) {
  const columns = reference.columns ?? [];
  const found = reference.rows ?? [];
  return found.length ? [table(text("rows"), columns, columns, found)] : orNothing([]);
}

function table(label, titles, fields, entries) {
  const wrap = fromTemplate("table-template");
  wrap.setAttribute("aria-label", label);
  const numeric = fields.map((field) => entries.every((entry) => typeof (entry[field] ?? 0) === "number"));
  titles.forEach((title, place) => {
    const head = make("th", numeric[place] ? "number" : "", title);
    head.scope = "col";
    wrap.querySelector("thead tr").append(head);
  });
  for (const entry of entries) {
    const row = make("tr");
    fields.forEach((field, place) => row.append(cell(field, entry[field], numeric[place])));
    wrap.querySelector("tbody").append(row);
  }
  return wrap;
}

function cell(field, value, numeric) {
  const align = numeric ? "number" : "";
  if (value === null || value === undefined) return make("td", `null ${align}`.trim(), value === null ? "NULL" : "");
  const when = /_seen$|^timestamp$/.test(field);
  const shown = typeof value === "object" ? JSON.stringify(value) : when ? readableTime(value) : String(value);
  const element = make("td", align, shown);
  if (field === "level") element.dataset.level = shown;
  if (field === "example" || field === "message") element.className = "log-line";
  if (when) element.className = "when";
  return element;
}

/** The time as the evidence has it, zone included, with places to break the line. */
function readableTime(iso) {
  return String(iso).replace(/^(\d{4}-\d{2}-\d{2})T([\d:.]+)(.*)$/, "$1 $2 $3").trim();
}

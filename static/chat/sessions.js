// The list of sessions: new ones appear on top, deleted ones go, small screens fold it away.

import { fill, fromTemplate, part, showTime, text } from "./dom.js";
import { send } from "./stream.js";

export function setUpSessions(page) {
  const sidebar = document.querySelector("[data-sidebar]");
  const toggle = document.querySelector("[data-sidebar-switch]");
  const show = (open) => {
    sidebar.classList.toggle("open", open);
    toggle.setAttribute("aria-expanded", String(open));
  };
  toggle.addEventListener("click", () => show(!sidebar.classList.contains("open")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && sidebar.classList.contains("open")) {
      show(false);
      toggle.focus();
    }
  });
  sidebar.querySelectorAll("[data-time]").forEach((each) => showTime(each));
  sidebar.addEventListener("click", (event) => {
    const button = event.target.closest("[data-delete]");
    if (button) remove(button.closest("[data-session]"), page);
  });
}

async function remove(item, page) {
  if (!confirm(text("deleteSession"))) return;
  const id = item.dataset.session;
  try {
    await send("DELETE", `${page.sessionsUrl}/${id}`);
  } catch {
    alert(text("notSaved"));
    return;
  }
  item.remove();
  if (id === page.sessionId) location.assign(page.indexUrl);
}

/** Put the session on top of the list, new or not, and make it the current one. */
export function touchSession(id, title, url) {
  const list = document.querySelector("[data-sessions]");
  let item = list.querySelector(`[data-session="${CSS.escape(id)}"]`);
  if (!item) {
    item = fromTemplate("session-template");
    item.dataset.session = id;
    item.querySelector("a").href = url;
    fill(item, { title: title.slice(0, 80) });
    item.querySelector("[data-delete]").setAttribute("aria-label", text("deleteNamed", { title: title.slice(0, 80) }));
  }
  showTime(item.querySelector("time"), new Date().toISOString());
  list.querySelectorAll("[aria-current]").forEach((each) => each.removeAttribute("aria-current"));
  item.querySelector("a").setAttribute("aria-current", "page");
  list.prepend(item);
  document.querySelector("[data-sessions-empty]").hidden = true;
  return part(item, "title");
}

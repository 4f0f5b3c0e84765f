// POST /api/chat and its stream of server-sent events, read with fetch: EventSource cannot post.

/** The question was refused before a stream began. */
export class RefusedError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function csrfToken() {
  return document.querySelector("[data-composer] [name=csrfmiddlewaretoken]").value;
}

/** JSON to one of our endpoints. Throws RefusedError, or TypeError when the service cannot be reached. */
export async function send(method, url, body, { signal, accept = "application/json" } = {}) {
  const headers = { Accept: accept, "X-CSRFToken": csrfToken() };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(url, { method, headers, signal, credentials: "same-origin", body: JSON.stringify(body) });
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    body = {}; // a proxy may answer with a page of its own
  }
  return new RefusedError(response.status, body.code ?? String(response.status), body.message ?? response.statusText);
}

/** The events of one question: {name, data}. Aborting `signal` closes the stream. */
export async function* ask(url, query, sessionId, signal) {
  const body = { query, session_id: sessionId || null };
  const response = await send("POST", url, body, { signal, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      buffer += value;
      let end = buffer.indexOf("\n\n");
      while (end !== -1) {
        const event = parse(buffer.slice(0, end));
        buffer = buffer.slice(end + 2);
        if (event) yield event;
        end = buffer.indexOf("\n\n");
      }
    }
  } finally {
    reader.cancel().catch(() => undefined); // already closed, or aborted
  }
}

function parse(frame) {
  let name = "";
  const data = [];
  for (const line of frame.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return name && data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}

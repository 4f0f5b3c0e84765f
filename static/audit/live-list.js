// Keeps the states in the runs list current, and says how many runs have begun since the page was made.

const live = document.querySelector("[data-feed]");
const state = live.querySelector("[data-live-state]");
const fresh = live.querySelector("[data-new-runs]");
const begun = new Set();

function showState(run) {
  const marker = document.querySelector(`[data-run="${CSS.escape(run.run_id)}"]`);
  if (marker) {
    marker.dataset.state = run.status;
    marker.textContent = live.dataset[run.status.toLowerCase()] ?? run.status;
  } else if (run.status === "RUNNING") {
    begun.add(run.run_id);
    fresh.querySelector("[data-count]").textContent = begun.size;
    fresh.hidden = false;
  }
}

const source = new EventSource(live.dataset.feed);
source.addEventListener("run", (event) => showState(JSON.parse(event.data)));
source.addEventListener("open", () => { state.textContent = state.dataset.connected; });
source.addEventListener("error", () => { state.textContent = state.dataset.lost; });

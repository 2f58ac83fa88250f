// Keeps the bars of unfinished jobs moving, and reloads when one ends, unless something has been
// typed that a reload would lose.

const EVERY = 1500;
const GIVE_UP_AFTER = 5;
let touched = false;

document.addEventListener("input", () => {
  touched = true;
});

const figure = ({ done, total }) => {
  if (!done) return "";
  return total ? `${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : done.toLocaleString("en");
};

function show(item, job) {
  const tag = item.querySelector("[data-job-state]");
  if (tag.textContent !== job.state) tag.textContent = job.state;
  item.querySelector("[data-job-message]").textContent = job.message;
  item.querySelector("[data-job-figure]").textContent = figure(job);
  item.querySelector("[data-job-rate]").textContent = job.pace;
  const bar = item.querySelector("[data-job-bar]");
  if (job.total) {
    bar.max = job.total;
    bar.value = Math.min(job.done, job.total);
  }
}

async function watch(item) {
  let failures = 0;
  while (failures < GIVE_UP_AFTER) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    if (document.hidden) continue;
    try {
      const answer = await fetch(item.dataset.job, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(answer.statusText);
      const job = await answer.json();
      failures = 0;
      show(item, job);
      if (job.is_finished) return;
    } catch {
      failures += 1;
    }
  }
}

function ended(item) {
  if (!touched) {
    location.reload();
    return;
  }
  const link = document.createElement("a");
  link.href = location.pathname;
  link.textContent = "Reload to see what changed";
  item.append(link);
}

for (const item of document.querySelectorAll("[data-job]")) {
  watch(item).then(() => ended(item));
}

// The page around the frame: the clock, and going on once the work is handed in.

const POLL_SECONDS = 15;
const SHORT_SECONDS = 5 * 60;

const bar = document.getElementById("work");
const clock = document.getElementById("clock");
const announced = document.getElementById("announced");
const frame = document.getElementById("frame");

// Counted from when the page was made, so that a wrong clock in the computer does not matter.
const secondsLeft = Number(bar.dataset.secondsLeft);
let hasWarned = false;

function left() {
  return Math.max(0, Math.round(secondsLeft - performance.now() / 1000));
}

function inWords(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const pairs = [minutes, seconds % 60].map((part) => String(part).padStart(2, "0"));
  return (hours ? `${hours}:` : "") + pairs.join(":");
}

function tick() {
  const seconds = left();
  clock.textContent = `${inWords(seconds)} left`;
  clock.classList.toggle("is-short", seconds < SHORT_SECONDS);
  if (seconds < SHORT_SECONDS && !hasWarned) {
    hasWarned = true;
    announced.textContent = `${inWords(seconds)} left for this HIT.`;
  }
  if (seconds === 0) {
    clearInterval(ticking);
    goOnIfOver();
  }
}

async function goOnIfOver() {
  try {
    const answer = await fetch(bar.dataset.state);
    if (answer.redirected || !answer.ok) return;
    if ((await answer.json()).status !== "Accepted") window.location.reload();
  } catch {
    // The network is away; the next poll asks again.
  }
}

window.addEventListener("message", (event) => {
  const isOurs = event.origin === window.location.origin && event.source === frame.contentWindow;
  if (isOurs && event.data === "submitted") goOnIfOver();
});
frame.addEventListener("load", goOnIfOver);
setInterval(goOnIfOver, POLL_SECONDS * 1000);
const ticking = setInterval(tick, 1000);
tick();

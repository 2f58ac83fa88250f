// Tells the marketplace's own page around this frame, and nobody else's, to go on.
if (window.parent !== window) {
  window.parent.postMessage("submitted", window.location.origin);
}

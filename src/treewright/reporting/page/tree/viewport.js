// A window onto a plane: dragging moves it; wheel, pinch and keys zoom it. What lies under the pointer stays there while
// zooming; a press without movement is left to be a click.

const FARTHEST = 0.01;
const STILL = 4; // pixels a pointer may tremble in a click

export function viewport(element, moved, nearest) {
  const at = { x: 0, y: 0, scale: 1 };
  const pointers = new Map();
  let dragging = false;

  const place = (x, y, scale) => {
    Object.assign(at, { x, y, scale });
    moved(at);
  };
  const zoom = (factor, x = element.clientWidth / 2, y = element.clientHeight / 2) => {
    const scale = Math.max(FARTHEST, Math.min(nearest(), at.scale * factor));
    const ratio = scale / at.scale;
    place(x - (x - at.x) * ratio, y - (y - at.y) * ratio, scale);
  };
  const local = (event) => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 20 : 1;
      if (!event.ctrlKey && (event.deltaX !== 0 || event.shiftKey)) {
        place(at.x - event.deltaX * unit - (event.shiftKey && !event.deltaX ? event.deltaY * unit : 0),
          at.y - (event.shiftKey ? 0 : event.deltaY * unit), at.scale);
      } else {
        zoom(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0016)), ...local(event));
      }
    },
    { passive: false },
  );
  element.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    pointers.set(event.pointerId, { start: local(event), last: local(event) });
    dragging = false;
  });
  element.addEventListener("pointermove", (event) => {
    const pointer = pointers.get(event.pointerId);
    if (!pointer) return;
    const now = local(event);
    if (!dragging && Math.hypot(now[0] - pointer.start[0], now[1] - pointer.start[1]) < STILL) return;
    if (!dragging) {
      dragging = true;
      element.setPointerCapture(event.pointerId);
      element.classList.add("tw-dragging");
    }
    if (pointers.size === 2) pinch(event.pointerId, now);
    else place(at.x + now[0] - pointer.last[0], at.y + now[1] - pointer.last[1], at.scale);
    pointer.last = now;
  });
  const pinch = (moving, now) => {
    const other = [...pointers].find(([id]) => id !== moving)[1].last;
    const before = pointers.get(moving).last;
    const spread = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    zoom(spread(now, other) / Math.max(1, spread(before, other)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  };
  const release = (event) => {
    pointers.delete(event.pointerId);
    if (pointers.size === 0) element.classList.remove("tw-dragging");
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
  // A drag ends with a click on whatever lies below: swallow that one.
  element.addEventListener("click", (event) => dragging && (event.stopPropagation(), (dragging = false)), true);
  return { at, place, zoom };
}

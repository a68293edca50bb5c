// Classes on the cards of some nodes of a tree, also on those that are drawn later.

/** Marks nodes with a class. @returns a function that takes the marks away */
export function markNodes(app, nodes, name) {
  const wanted = new Set(nodes);
  const cards = () => app.tree.element.querySelectorAll("[data-node]");
  const show = () => cards().forEach((card) => card.classList.toggle(name, wanted.has(Number(card.dataset.node))));
  const observer = new MutationObserver(show);
  observer.observe(app.tree.cards, { childList: true });
  show();
  return () => {
    observer.disconnect();
    cards().forEach((card) => card.classList.remove(name));
  };
}

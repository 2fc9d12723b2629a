// Small helpers for the extension's pages. Texts of the server become text, never markup.

export function getElement<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id)
  if (!element) throw new Error(`the page has no #${id}`)
  return element as T
}

export function createElement<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

export const toSentence = (error: unknown) => (error instanceof Error ? error.message : String(error))

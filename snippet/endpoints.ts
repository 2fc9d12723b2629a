// Finds the form endpoint that a form posts to.

/**
 * Methods of the form prototype, because an input with the name `action` or `submit` hides the form's own property.
 */
// A server that renders the page imports this file too, and has no forms.
export const formPrototype = globalThis.HTMLFormElement?.prototype

/**
 * The address of a form on any other domain: perhaps one of the workspace's own. Only the server knows, so the form gets
 * nothing from the snippet before the server has described it.
 */
const ELSEWHERE = /^https?:\/\/[^/]+\/f\/([2-9a-hjkmnp-z]{10})(?![^/?#])/

/** @returns the form endpoint to which a form posts, and whether this is certain; undefined if there is none */
export function findEndpoint(
  { formUrls }: { formUrls: string[] },
  form: HTMLFormElement,
): { url: string; key: string; isSure: boolean } | undefined {
  try {
    const url = new URL(formPrototype.getAttribute.call(form, 'action') ?? '', document.baseURI).href
    const start = formUrls.find((known) => url.startsWith(known))
    const key = start ? url.slice(start.length).replace(/[/?#].*/, '') : ELSEWHERE.exec(url)?.[1]
    return key ? { url, key, isSure: !!start } : undefined
  } catch {
    // The action is not a URL.
  }
}

// The addresses that the snippet calls, from the address of its own script: behind a proxy on the customer's domain, the
// snippet calls that domain only, so that ad blockers do not block it by name.

/** The build inserts the server's origin and the first segment of its intake. */
declare const ORIGIN: string
declare const INTAKE: string

// A module has no `currentScript`; the attribute of its tag still names the workspace.
export const scriptElement =
  (document.currentScript as HTMLScriptElement | null) ??
  document.querySelector<HTMLScriptElement>('script[data-workspace]')

const source = (scriptElement?.src ?? '').replace(/[?#].*/, '')
const folder = source.replace(/[^/]*$/, '')
// A versioned name is in the folder of the intake; the latest version is one folder above.
const isVersioned = /\/t-[0-9a-f]{16}\.js$/.test(source)

/** With a slash at the end. */
export const intakeUrl = isVersioned ? folder : `${folder}${INTAKE}/`
const base = isVersioned ? folder.slice(0, -INTAKE.length - 1) : folder

const formUrls = [`${base}f/`, `${ORIGIN}/f/`]

/**
 * The address of a form on any other domain: perhaps one of the workspace's own. Only the server knows, so the form gets
 * nothing from the snippet before the server has described it.
 */
const ELSEWHERE = /^https?:\/\/[^/]+\/f\/([2-9a-hjkmnp-z]{10})(?![^/?#])/

/** The methods of forms: an input with the name `action` or `submit` hides the form's own property. */
export const formPrototype = HTMLFormElement.prototype

/** @returns the form endpoint that a form posts to, and whether it is one for sure; undefined where it is none */
export function findEndpoint(
  form: HTMLFormElement,
): { url: string; key: string; isSure: boolean } | undefined {
  try {
    const url = new URL(formPrototype.getAttribute.call(form, 'action') ?? '', document.baseURI).href
    const start = formUrls.find((known) => url.startsWith(known))
    const key = start ? url.slice(start.length).replace(/[/?#].*/, '') : ELSEWHERE.exec(url)?.[1]
    return key ? { url, key, isSure: !!start } : undefined
  } catch {
    // The action is no URL.
    return undefined
  }
}

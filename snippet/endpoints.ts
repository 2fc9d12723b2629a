// Where this script came from, and with that everything it talks to: behind a proxy on the customer's own domain it
// stays there, which is what keeps it from being blocked by name.

/** Written in when the file is built: the server's own address, and the first segment of its intake. */
declare const ORIGIN: string
declare const INTAKE: string

// Without `currentScript` (loaded as a module) the tag still says whose page this is.
export const scriptElement =
  (document.currentScript as HTMLScriptElement | null) ??
  document.querySelector<HTMLScriptElement>('script[data-workspace]')

const source = (scriptElement?.src ?? '').replace(/[?#].*/, '')
const folder = source.replace(/[^/]*$/, '')
// The unchanging names lie one folder deeper than the moving one.
const named = /\/t-[0-9a-f]{16}\.js$/.test(source)

/** With a slash at the end. */
export const intakeUrl = named ? folder : `${folder}${INTAKE}/`
const base = named ? folder.slice(0, -INTAKE.length - 1) : folder

const formUrls = [`${base}f/`, `${ORIGIN}/f/`]

/** An element's own methods, whatever inputs called `action` or `submit` hide of them. */
export const formPrototype = HTMLFormElement.prototype

/** Where a form posts to, if that is one of ours. */
export function findEndpoint(form: HTMLFormElement): { url: string; key: string } | undefined {
  try {
    const url = new URL(formPrototype.getAttribute.call(form, 'action') ?? '', document.baseURI).href
    const start = formUrls.find((known) => url.startsWith(known))
    const key = start && url.slice(start.length).replace(/[/?#].*/, '')
    return key ? { url, key } : undefined
  } catch {
    // An action that is no URL is somebody else's.
    return undefined
  }
}

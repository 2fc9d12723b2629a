// The site of the script tag. The addresses are those of its own script: behind a proxy on the customer's domain, the
// snippet calls that domain only, so that ad blockers do not block it by name. The browser checks the other files against
// hashes in this one, so that a page that pins the snippet pins them all.

import { ownUrls, type ScriptUrlPolicy } from './script-url.ts'
import type { Site, SnippetParts } from './site.ts'

/** `window.towpath` on a page with the script tag. The other files add their parts. */
export interface TowpathGlobal extends SnippetParts {
  /** Enhances a form that the page has added. @returns a function that detaches it */
  enhance(form: HTMLFormElement): () => void
  /** The same, so that `(window.towpath ||= []).push(form)` works before the snippet has loaded, and after. */
  push(form: HTMLFormElement): void
}

declare global {
  interface Window {
    /** Forms that wait for the snippet, and then the snippet itself. */
    towpath?: TowpathGlobal | HTMLFormElement[]
  }
}

/** The build inserts the server's origin, the first segment of its intake, and name and hash of each other file. */
declare const ORIGIN: string
declare const INTAKE: string
declare const PARTS: Record<keyof SnippetParts, [name: string, integrity: string]>

export function createScriptSite(): Site {
  // A module has no `currentScript`; the attribute of its tag still names the workspace.
  const element =
    (document.currentScript as HTMLScriptElement | null) ??
    document.querySelector<HTMLScriptElement>('script[data-workspace]')
  // A versioned name is in the folder of the intake; the latest version is one folder above.
  const intakeUrl = (element?.src ?? '')
    .replace(/[?#].*/, '')
    .replace(/[^/]*$/, (name) => (/^t-[0-9a-f]{16}\.js$/.test(name) ? '' : `${INTAKE}/`))
  const nonce = element?.nonce ?? ''
  let policy: ScriptUrlPolicy | undefined
  const loading: { [part in keyof SnippetParts]?: Promise<SnippetParts> } = {}

  return {
    workspace: element?.dataset.workspace,
    intakeUrl,
    formUrls: [`${intakeUrl.slice(0, -INTAKE.length - 1)}f/`, `${ORIGIN}/f/`],
    nonce,
    load(part) {
      loading[part] ??= new Promise((resolve, reject) => {
        const [name, integrity] = PARTS[part]
        const script = document.createElement('script')
        script.onload = () => resolve(window.towpath as TowpathGlobal)
        script.onerror = () => {
          // The next attempt loads it again, because the network may be back.
          loading[part] = undefined
          reject()
        }
        script.crossOrigin = 'anonymous'
        script.integrity = integrity
        script.nonce = nonce
        try {
          policy ??= trustedTypes.createPolicy('towpath', ownUrls)
        } catch {
          // The browser has no such types, or the page does not allow the policy: it may have one for all addresses.
        }
        script.src = (policy ?? ownUrls).createScriptURL(intakeUrl + name)
        document.head.append(script)
      })
      return loading[part]
    },
  }
}

// The package @towpath/snippet: the snippet as an ES module, for pages that are built by a bundler. Importing it touches
// no window.

import { createEnhancer } from '../../snippet/enhance-forms.ts'
import { takeErrors } from '../../snippet/messages.ts'
import { createVisit } from '../../snippet/visit.ts'
import { createPackageSite } from '../package-site.ts'

export interface TowpathOptions {
  /** The address of the Towpath server, such as `https://go.example`, or of the folder where your site proxies it. */
  origin: string
  /** The public id of the workspace (`ws_…`), for page views. Without it, forms are sent without their visit. */
  workspace?: string
  /** `INTAKE_PATH` of the server, where the operator has changed it. */
  intakePath?: string
  /** The nonce of the page's Content-Security-Policy: Turnstile's script needs it. */
  nonce?: string
}

export interface Towpath {
  /**
   * Enhances a form whose `action` is a form endpoint: it is sent without leaving the page, with messages at its
   * fields, upload progress and captcha. A second call for the same form does nothing.
   * @returns a function that undoes this for the form
   */
  enhance(form: HTMLFormElement): () => void
  /** Reports the current page: call it once after loading, and after each navigation of a router. */
  track(): void
}

/** `detail` of the event `towpath:success`. */
export interface TowpathSuccess {
  formKey: string
}

/** `detail` of the event `towpath:error`. */
export interface TowpathError {
  formKey: string
  /** 0 without an answer. */
  status: number
  error: string
  /** Messages by field. */
  errors: Record<string, string>
}

/** `detail` of the event `towpath:progress`, in bytes. */
export interface TowpathProgress {
  formKey: string
  sent: number
  total: number
}

declare global {
  interface GlobalEventHandlersEventMap {
    'towpath:success': CustomEvent<TowpathSuccess>
    'towpath:error': CustomEvent<TowpathError>
    'towpath:progress': CustomEvent<TowpathProgress>
  }
}

/** Starts at the first call of the returned function, so a module may create it on the server too. */
export function createTowpath(options: TowpathOptions): Towpath {
  const start = () => {
    const site = createPackageSite(options)
    // First, so that the reported address of the page has no errors in it.
    const errors = takeErrors()
    const visit = createVisit(site)
    return { visit, enhancer: createEnhancer(site, visit, errors) }
  }
  let started: ReturnType<typeof start> | undefined
  const getStarted = () => {
    started ??= start()
    return started
  }
  return {
    enhance: (form) => getStarted().enhancer.enhance(form),
    track: () => getStarted().visit.report(),
  }
}

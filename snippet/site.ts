// The snippet's server, and the loader of the snippet's other parts. The script tag makes one (script-site.ts), and the
// npm packages make theirs.

import type { LoadedCaptcha } from './captcha-widget.ts'
import type { UploadTools } from './uploads.ts'

/** The parts of the snippet that only some forms need. */
export interface SnippetParts {
  captcha?: LoadedCaptcha
  uploads?: UploadTools
}

export interface Site {
  /** The public id of the workspace. Without it, no page view is reported. */
  workspace: string | undefined
  /** Where page views are reported and forms are described, with a slash at the end. */
  intakeUrl: string
  /** The prefix of its form endpoints' addresses. */
  formUrls: string[]
  /** For a page with a nonce in its Content-Security-Policy. */
  nonce: string
  /** Rejects where the part cannot be loaded. */
  load(part: keyof SnippetParts): Promise<SnippetParts>
}

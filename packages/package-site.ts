// The site of an npm package: its addresses are options, and all parts of the snippet are in its bundle.

import { renderCaptcha } from '../snippet/captcha.ts'
import type { Site } from '../snippet/site.ts'
import { uploadTools } from '../snippet/uploads.ts'

interface PackageSiteOptions {
  /** The server's address, with the folder of a proxy where there is one. */
  origin: string
  workspace?: string
  intakePath?: string
  nonce?: string
}

export function createPackageSite({
  origin,
  workspace,
  intakePath = 'e',
  nonce = '',
}: PackageSiteOptions): Site {
  const base = origin.replace(/\/*$/, '/')
  return {
    workspace,
    intakeUrl: `${base}${intakePath}/`,
    formUrls: [`${base}f/`],
    nonce,
    load: async () => ({ captcha: renderCaptcha, uploads: uploadTools }),
  }
}

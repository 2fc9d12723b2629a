// The settings of forms that the snippet needs before they are filled in, from `/e/forms`, in the page's language.

import type { CaptchaConfig } from './captcha-widget.ts'

/** The file settings of a form. */
export interface UploadLimits {
  maxFiles: number
  maxBytes: number
  /** `image/*`, `application/pdf` or `.pdf`; any type when empty. */
  accept: string[]
}

export interface FormInfo {
  successMessage: string | null
  captcha: CaptchaConfig | null
  /** Null or absent where the form takes no files. */
  uploads?: UploadLimits | null
  /** The snippet's own texts. */
  texts?: Record<string, string | undefined>
  /** Every message that the endpoint may answer. */
  messages?: string[]
}

/** The language of the page; '' if it has none, and then the browser's languages count. */
export const readPageLanguage = () => document.documentElement.lang

export async function fetchFormInfo(
  intakeUrl: string,
  keys: string[],
): Promise<Record<string, FormInfo | undefined>> {
  const url = `${intakeUrl}forms?keys=${keys.join()}&lang=${readPageLanguage()}`
  const response = await fetch(url, { credentials: 'omit' })
  return (await response.json()).forms
}

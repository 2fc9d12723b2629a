// Sends a form like a page would, with the captcha where the form has one.

import type { FormResource } from '../../../server/features/forms/schema.ts'

export interface FormResponse {
  status: number
  /** The response's body. */
  text: string
  ok: boolean
  error?: string
  errors: Record<string, string>
}

/** Posts to the path without the host, so that it works under every host name of the server. */
export async function sendForm(
  form: Pick<FormResource, 'formKey' | 'captcha'>,
  body: FormData,
): Promise<FormResponse> {
  if (form.captcha) {
    const token = await solveCaptcha(form.formKey)
    if (token) body.set('cf-turnstile-response', token)
  }
  const response = await fetch(`/f/${form.formKey}`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    credentials: 'omit',
    body,
  })
  const text = await response.text()
  const json = parseBody(text)
  return { status: response.status, text, ok: json.ok === true, error: json.error, errors: json.errors ?? {} }
}

function parseBody(text: string): { ok?: boolean; error?: string; errors?: Record<string, string> } {
  try {
    return JSON.parse(text)
  } catch {
    return { error: 'The server’s response is not JSON.' }
  }
}

/**
 * Gets a challenge like a page does, and solves it.
 * @returns undefined for Cloudflare's captcha, which the dashboard cannot show
 */
async function solveCaptcha(formKey: string): Promise<string | undefined> {
  const response = await fetch(`/e/forms?keys=${formKey}`, { credentials: 'omit' })
  if (!response.ok) return undefined
  const { forms } = await response.json()
  const captcha = forms?.[formKey]?.captcha
  if (captcha?.provider !== 'altcha') return undefined
  const { solve } = await import('../../../snippet/proof-of-work.ts')
  return solve(captcha.challenge)
}

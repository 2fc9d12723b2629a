// Sends a form as its page would, with the captcha where it has one.

import type { FormResource } from '../../../server/features/forms/schema.ts'

export interface FormResponse {
  status: number
  /** As it was answered. */
  text: string
  ok: boolean
  error?: string
  errors: Record<string, string>
}

/** By the path alone, so that it works under every name the server is reached by. */
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
  const said = parseBody(text)
  return { status: response.status, text, ok: said.ok === true, error: said.error, errors: said.errors ?? {} }
}

function parseBody(text: string): { ok?: boolean; error?: string; errors?: Record<string, string> } {
  try {
    return JSON.parse(text)
  } catch {
    return { error: 'The server answered something that is not JSON.' }
  }
}

/** What a page asks before it shows the form. Cloudflare's captcha cannot be shown here: then there is no token. */
async function solveCaptcha(formKey: string): Promise<string | undefined> {
  const response = await fetch(`/e/forms?keys=${formKey}`, { credentials: 'omit' })
  if (!response.ok) return undefined
  const { forms } = await response.json()
  const captcha = forms?.[formKey]?.captcha
  if (captcha?.provider !== 'altcha') return undefined
  const { solve } = await import('../../../snippet/proof-of-work.ts')
  return solve(captcha.challenge)
}

// Settings of single features: plans, captcha, destinations and the fast path.

import type { TurnstileKeys } from '../features/forms/captcha/turnstile.ts'
import { PLANS, type Plan } from '../lib/plan.ts'
import { parseUrl } from '../lib/web-url.ts'
import type { GetSetting, ProblemReporter } from './setting.ts'

const DANGEROUS_SCHEMES = ['javascript:', 'data:', 'vbscript:', 'file:', 'about:', 'blob:']
export function readPlan(text: string | undefined, wrong: ProblemReporter): Plan {
  if (text === undefined) return 'enterprise'
  const plan = PLANS.find((known) => known === text.toLowerCase())
  if (plan) return plan
  wrong('DEFAULT_PLAN', `"${text}" is not a plan`, `Use one of ${PLANS.join(', ')}.`)
  return 'enterprise'
}

const SITEVERIFY = 'https://challenges.cloudflare.com/turnstile/v0/siteverify'

export function readTurnstile(get: GetSetting, wrong: ProblemReporter): TurnstileKeys | undefined {
  const [siteKey, secretKey] = [get('TURNSTILE_SITE_KEY'), get('TURNSTILE_SECRET_KEY')]
  const verifyUrl = get('TURNSTILE_VERIFY_URL') ?? SITEVERIFY
  const url = parseUrl(verifyUrl)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    // The message does not repeat the URL, which may have a password.
    wrong('TURNSTILE_VERIFY_URL', 'is not an http or https URL', `Leave it out for ${SITEVERIFY}.`)
  }
  if (siteKey && secretKey) return { siteKey, secretKey, verifyUrl }
  if (siteKey || secretKey) {
    const missing = siteKey ? 'TURNSTILE_SECRET_KEY' : 'TURNSTILE_SITE_KEY'
    const fix = 'Set both keys for Turnstile, or neither for the built-in proof of work.'
    wrong(missing, 'is missing, and the other key is set', fix)
  }
  return undefined
}

/** On by default. */
export function readSwitch(name: string, text: string | undefined, wrong: ProblemReporter): boolean {
  if (text === undefined || text === 'on') return true
  if (text !== 'off') wrong(name, `"${text}" is not a switch`, 'Use on or off.')
  return false
}

export function readSchemes(text: string | undefined, wrong: ProblemReporter): string[] {
  const names = text?.split(/[\s,]+/).filter(Boolean) ?? []
  const schemes = names.map((name) => `${name.replace(/:(\/\/)?$/, '').toLowerCase()}:`)
  for (const scheme of schemes) {
    if (!/^[a-z][a-z0-9+.-]*:$/.test(scheme)) {
      wrong('DESTINATION_SCHEMES', `"${scheme}" is not a URL scheme`, 'List names such as myapp,tel.')
    } else if (DANGEROUS_SCHEMES.includes(scheme)) {
      wrong('DESTINATION_SCHEMES', `"${scheme}" can run code in the browser`, 'Take it out.')
    }
  }
  return schemes
}

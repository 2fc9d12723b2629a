// Settings of sign-up and of the identity provider.

import type { OidcSettings } from '../features/accounts/auth/better-auth.ts'
import { parseUrl } from '../lib/web-url.ts'
import type { GetSetting, ProblemReporter } from './setting.ts'

export interface SignInSettings {
  /** The people who may sign up after the first person: invited people, or everyone. */
  signup: 'invite' | 'open'
  /** An additional identity provider for sign-in. */
  oidc?: OidcSettings
}

export function readSignup(get: GetSetting, wrong: ProblemReporter): SignInSettings['signup'] {
  const text = get('SIGNUP')
  if (text === 'open' && get('SMTP_URL') === undefined) {
    const fix = 'Set SMTP_URL and MAIL_FROM, or use SIGNUP=invite.'
    wrong('SIGNUP', 'is open, but without SMTP_URL people cannot confirm their email addresses', fix)
  }
  if (text === undefined || text === 'invite' || text === 'open') return text ?? 'invite'
  wrong('SIGNUP', `"${text}" is not a rule`, 'Use invite, or open to let everybody in.')
  return 'invite'
}

const OIDC_SETTINGS = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const

/** All three settings or none. The name is the label of the sign-in button. */
export function readOidc(get: GetSetting, wrong: ProblemReporter): OidcSettings | undefined {
  const [issuer, clientId, clientSecret] = OIDC_SETTINGS.map(get)
  const name = get('OIDC_NAME')
  const url = issuer === undefined ? undefined : parseUrl(issuer)
  const usable = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash
  if (issuer !== undefined && !usable) {
    wrong(
      'OIDC_ISSUER',
      `"${issuer}" is not the address of an identity provider`,
      'Use its https:// address.',
    )
  }
  if (issuer && clientId && clientSecret)
    return { issuer, clientId, clientSecret, name: name ?? url?.host ?? '' }
  const missing = OIDC_SETTINGS.filter((each) => get(each) === undefined)
  if (missing.length < OIDC_SETTINGS.length || name !== undefined) {
    const fix = `Set ${OIDC_SETTINGS.join(', ')}, or none of them.`
    for (const each of missing) wrong(each, 'is missing, and others of its kind are set', fix)
  }
  return undefined
}

// The settings that all servers of one installation should have in common. Other servers and the log can see their
// values, so secrets are only `set` or `not set`.

import type { Config } from './config.ts'

const isSet = (value: unknown) => (value === undefined ? 'not set' : 'set')

export const listSharedSettings = (config: Config): Record<string, string> => ({
  TOWPATH_URL: config.origin,
  TOWPATH_ALIASES: [...config.aliases].sort().join(' '),
  INTAKE_PATH: config.intakePath,
  SNIPPET_PATH: config.snippetPath,
  HIT_RETENTION_DAYS: String(config.hitRetentionDays ?? 'not set'),
  PAGE_VIEWS_PER_DAY: String(config.pageViewsPerDay),
  SUBMISSIONS_PER_DAY: String(config.submissionsPerDay),
  DEFAULT_PLAN: config.defaultPlan,
  DESTINATION_SCHEMES: [...config.destinationSchemes].sort().join(' '),
  DESTINATION_BLOCKLIST: isSet(config.destinationBlocklist),
  ABUSE_EMAIL: isSet(config.abuseEmail),
  TURNSTILE_SITE_KEY: config.turnstile?.siteKey ?? 'not set',
  TURNSTILE_SECRET_KEY: isSet(config.turnstile?.secretKey),
  SIGNUP: config.signup,
  OIDC_ISSUER: config.oidc?.issuer ?? 'not set',
  SMTP_URL: isSet(config.smtpUrl),
  MAIL_FROM: isSet(config.mailFrom),
  MAIL_PER_DAY: String(config.mailPerDay),
  GEOIP_DB: isSet(config.geoipDb),
})

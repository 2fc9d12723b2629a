// Reads the environment; no other file does. It reports every wrong value at once, each with its remedy.

import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { OidcSettings } from './features/accounts/auth/better-auth.ts'
import type { TurnstileKeys } from './features/forms/captcha/turnstile.ts'
import { RESERVED_SLUGS } from './features/links/slug.ts'
import { type Network, parseNetwork } from './lib/ip-network.ts'
import { LOG_LEVELS, type LogLevel } from './lib/log.ts'
import { parseIpAddress } from './lib/parse-ip.ts'
import { PLANS, type Plan } from './lib/plan.ts'
import { randomToken } from './lib/random.ts'
import { findGeoProblem } from './storage/geo.ts'

export interface Config {
  port: number
  host: string
  /** The public origin without a trailing slash, such as `https://go.example`. */
  origin: string
  dataDir: string
  databaseUrl: string | undefined
  secret: string
  trustProxy: Network[]
  geoipDb: string | undefined
  defaultPlan: Plan
  /** Schemes besides http and https that a destination may have, such as `myapp:`. */
  destinationSchemes: string[]
  /** Cloudflare's captcha, where the operator has keys for it. Otherwise forms have the built-in proof of work. */
  turnstile?: TurnstileKeys
  /** The path of the tracking snippet. The operator can change it, because ad blockers block by name. */
  snippetPath: string
  /** The first segment of the paths that the snippet calls. */
  intakePath: string
  /** Private networks that webhooks may reach. */
  webhookAllow: Network[]
  /** The mail server: `smtp://user:password@host:587`, or `smtps://…`. Without it, e-mail channels fail and say so. */
  smtpUrl?: string
  /** The sender of mails: an address, or a name and an address. */
  mailFrom?: string
  /** Who may sign up after the first person: people with an invitation, or everybody. */
  signup: 'invite' | 'open'
  /** The identity provider through which people may sign in too. */
  oidc?: OidcSettings
  /** Hits older than this are deleted. Without it, hits are kept for ever. */
  hitRetentionDays?: number
  /** Whether the server answers plain redirects before `Bun.serve` reads them. */
  fastPath: boolean
  logLevel: LogLevel
}

/** Everything that is wrong with the environment: `problems` has one line for each. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

type Environment = Record<string, string | undefined>

const NAMES = [
  'PORT',
  'HOST',
  'TOWPATH_URL',
  'DATA_DIR',
  'DATABASE_URL',
  'CLICKHOUSE_URL',
  'TOWPATH_SECRET',
  'TRUST_PROXY',
  'GEOIP_DB',
  'DEFAULT_PLAN',
  'DESTINATION_SCHEMES',
  'TURNSTILE_SITE_KEY',
  'TURNSTILE_SECRET_KEY',
  'TURNSTILE_VERIFY_URL',
  'SNIPPET_PATH',
  'INTAKE_PATH',
  'WEBHOOK_ALLOW_CIDRS',
  'SMTP_URL',
  'MAIL_FROM',
  'SIGNUP',
  'OIDC_ISSUER',
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_NAME',
  'HIT_RETENTION_DAYS',
  'FAST_PATH',
  'LOG_LEVEL',
]
// Kubernetes sets these variables in every container beside a Service with the name towpath.
const FROM_KUBERNETES = /^TOWPATH_(SERVICE_(HOST|PORT)|PORT)(_|$)/
const DANGEROUS_SCHEMES = ['javascript:', 'data:', 'vbscript:', 'file:', 'about:', 'blob:']
const PLACEHOLDER = /^(change|replace|your|example|secret|password|placeholder|xxx|todo)|(.)\2{15}/i
const SECRET_MIN = 32

/** @throws ConfigError with every problem */
export function readConfig(env: Environment = process.env): Config {
  const problems: string[] = []
  const get: Get = (name) => {
    const value = env[name]?.trim()
    return value === '' ? undefined : value
  }
  const wrong = (name: string, what: string, fix: string) => {
    problems.push(`${name}: ${what}. ${fix}`)
  }
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('TOWPATH_') && !NAMES.includes(name) && !FROM_KUBERNETES.test(name),
  )
  for (const name of unknown) wrong(name, 'is not a setting', `Settings are ${NAMES.join(', ')}.`)

  const port = readPort(get('PORT'), wrong)
  const host = readHost(get('HOST'), wrong)
  const dataDir = resolve(get('DATA_DIR') ?? './data')
  const config = {
    port,
    host,
    origin: readOrigin(get('TOWPATH_URL'), host, port, wrong),
    dataDir,
    databaseUrl: readDatabaseUrl(get('DATABASE_URL'), wrong),
    trustProxy: readNetworks('TRUST_PROXY', get, wrong),
    geoipDb: get('GEOIP_DB'),
    defaultPlan: readPlan(get('DEFAULT_PLAN'), wrong),
    destinationSchemes: readSchemes(get('DESTINATION_SCHEMES'), wrong),
    turnstile: readTurnstile(get, wrong),
    ...readPaths(get, wrong),
    webhookAllow: readNetworks('WEBHOOK_ALLOW_CIDRS', get, wrong),
    ...readMail(get, wrong),
    signup: readSignup(get('SIGNUP'), wrong),
    oidc: readOidc(get, wrong),
    hitRetentionDays: readRetention(get('HIT_RETENTION_DAYS'), wrong),
    fastPath: readFastPath(get('FAST_PATH'), wrong),
    logLevel: readLogLevel(get('LOG_LEVEL'), wrong),
  }
  const badGeo = config.geoipDb === undefined ? undefined : findGeoProblem(config.geoipDb)
  if (badGeo) wrong('GEOIP_DB', badGeo, 'Give the path of an .mmdb file, or leave it out.')
  if (get('CLICKHOUSE_URL')) {
    wrong('CLICKHOUSE_URL', 'this version keeps clicks in DuckDB only', 'Leave it out.')
  }
  checkSecret(get('TOWPATH_SECRET'), wrong)
  makeDataDir(dataDir, wrong)
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...config, secret: get('TOWPATH_SECRET') ?? readOrCreateSecret(dataDir) }
}

type Get = (name: string) => string | undefined
type ProblemReporter = (name: string, what: string, fix: string) => void

function readPort(text: string | undefined, wrong: ProblemReporter): number {
  if (text === undefined) return 3000
  const port = Number(text)
  // Not 0: the system would choose one, and the address in every short link would be wrong.
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port
  wrong('PORT', `"${text}" is not a port`, 'Use a whole number from 1 to 65535, such as 3000.')
  return 3000
}

function readHost(text: string | undefined, wrong: ProblemReporter): string {
  if (text === undefined) return '0.0.0.0'
  const name = text.replace(/^\[(.*)\]$/, '$1')
  if (parseIpAddress(name) || /^(?=.*[a-z])[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(name)) return name
  wrong('HOST', `"${text}" is not an address to listen on`, 'Use 0.0.0.0 for every one, or 127.0.0.1.')
  return '0.0.0.0'
}

function readOrigin(text: string | undefined, host: string, port: number, wrong: ProblemReporter): string {
  const shown = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host
  const local = `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`
  if (text === undefined) return local
  const url = URL.parse(text)
  const plain = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash
  if (plain && !url.username && !url.password) return url.origin
  wrong(
    'TOWPATH_URL',
    `"${text}" is not a public address`,
    'Use scheme and host only, such as https://go.example.',
  )
  return local
}

function readDatabaseUrl(text: string | undefined, wrong: ProblemReporter): string | undefined {
  if (text === undefined || /^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  wrong('DATABASE_URL', 'is not a PostgreSQL address', 'Use postgres://user:password@host:5432/database.')
  return undefined
}

function readNetworks(name: string, get: Get, wrong: ProblemReporter): Network[] {
  const networks: Network[] = []
  for (const part of get(name)
    ?.split(/[\s,]+/)
    .filter(Boolean) ?? []) {
    const network = parseNetwork(part)
    if (network) networks.push(network)
    else wrong(name, `"${part}" is not a network`, 'List CIDR ranges, such as 10.0.0.0/8,127.0.0.1.')
  }
  return networks
}

const SITEVERIFY = 'https://challenges.cloudflare.com/turnstile/v0/siteverify'

function readTurnstile(get: Get, wrong: ProblemReporter): TurnstileKeys | undefined {
  const [siteKey, secretKey] = [get('TURNSTILE_SITE_KEY'), get('TURNSTILE_SECRET_KEY')]
  const verifyUrl = get('TURNSTILE_VERIFY_URL') ?? SITEVERIFY
  const url = URL.parse(verifyUrl)
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

// The name is optional. The address between the brackets has a domain.
const MAIL_FROM = /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/

/** Both settings or neither: mail needs a server and a sender. */
function readMail(get: Get, wrong: ProblemReporter): Pick<Config, 'smtpUrl' | 'mailFrom'> {
  const [smtpUrl, mailFrom] = [get('SMTP_URL'), get('MAIL_FROM')]
  const url = smtpUrl === undefined ? undefined : URL.parse(smtpUrl)
  if (url !== undefined && !(url && /^smtps?:$/.test(url.protocol) && url.hostname !== '')) {
    // The message does not repeat the URL, which may have a password.
    wrong(
      'SMTP_URL',
      'is not the address of a mail server',
      'Use smtp://user:password@host:587 or smtps://….',
    )
  }
  if (mailFrom !== undefined && !MAIL_FROM.test(mailFrom)) {
    wrong('MAIL_FROM', `"${mailFrom}" is not a sender`, 'Use leads@example.com or Leads <leads@example.com>.')
  }
  if (smtpUrl !== undefined && mailFrom === undefined) {
    wrong(
      'MAIL_FROM',
      'is missing, and SMTP_URL is set',
      'Name whom mail is from, such as leads@example.com.',
    )
  }
  if (smtpUrl === undefined && mailFrom !== undefined) {
    wrong('SMTP_URL', 'is missing, and MAIL_FROM is set', 'Name the mail server, or leave both out.')
  }
  return { smtpUrl, mailFrom }
}

function readSignup(text: string | undefined, wrong: ProblemReporter): Config['signup'] {
  if (text === undefined || text === 'invite' || text === 'open') return text ?? 'invite'
  wrong('SIGNUP', `"${text}" is not a rule`, 'Use invite, or open to let everybody in.')
  return 'invite'
}

const OIDC_SETTINGS = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const

/** All three settings or none. The name is the label of the sign-in button. */
function readOidc(get: Get, wrong: ProblemReporter): OidcSettings | undefined {
  const [issuer, clientId, clientSecret] = OIDC_SETTINGS.map(get)
  const name = get('OIDC_NAME')
  const url = issuer === undefined ? undefined : URL.parse(issuer)
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

const PATH = /^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/

/** Each path is one segment that names nothing else. */
function readPaths(get: Get, wrong: ProblemReporter): Pick<Config, 'snippetPath' | 'intakePath'> {
  const read = (name: string, usual: string) => {
    const path = get(name) ?? usual
    const taken = path !== usual && RESERVED_SLUGS.has(path.toLowerCase())
    const fix = `Use one name of letters, digits, "-", "_" and ".", such as ${usual}.`
    if (!PATH.test(path)) wrong(name, `"${path}" is not the name of a path`, fix)
    else if (taken) wrong(name, `"${path}" is the name of something else`, 'Choose another one.')
    return path
  }
  const [snippetPath, intakePath] = [read('SNIPPET_PATH', 't.js'), read('INTAKE_PATH', 'e')]
  const same = snippetPath.toLowerCase() === intakePath.toLowerCase()
  if (same && !RESERVED_SLUGS.has(intakePath.toLowerCase())) {
    wrong('INTAKE_PATH', `"${intakePath}" is the name of the snippet too`, 'Choose another one.')
  }
  return { snippetPath, intakePath }
}

function readPlan(text: string | undefined, wrong: ProblemReporter): Plan {
  if (text === undefined) return 'enterprise'
  const plan = PLANS.find((known) => known === text.toLowerCase())
  if (plan) return plan
  wrong('DEFAULT_PLAN', `"${text}" is not a plan`, `Use one of ${PLANS.join(', ')}.`)
  return 'enterprise'
}

/** 100 years. A higher number is a mistake. */
const RETENTION_DAYS_MAX = 36_500

function readRetention(text: string | undefined, wrong: ProblemReporter): number | undefined {
  if (text === undefined) return undefined
  const days = Number(text)
  if (/^\d+$/.test(text) && days >= 1 && days <= RETENTION_DAYS_MAX) return days
  wrong(
    'HIT_RETENTION_DAYS',
    `"${text}" is not a number of days`,
    'Use a whole number from 1, such as 365, or leave it out to keep hits for ever.',
  )
  return undefined
}

function readFastPath(text: string | undefined, wrong: ProblemReporter): boolean {
  if (text === undefined || text === 'on') return true
  if (text !== 'off') wrong('FAST_PATH', `"${text}" is not a switch`, 'Use on or off.')
  return false
}

function readLogLevel(text: string | undefined, wrong: ProblemReporter): LogLevel {
  const level = LOG_LEVELS.find((known) => known === (text ?? 'info'))
  if (level) return level
  wrong('LOG_LEVEL', `"${text}" is not a level`, `Use one of ${LOG_LEVELS.join(', ')}.`)
  return 'info'
}

function readSchemes(text: string | undefined, wrong: ProblemReporter): string[] {
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

function checkSecret(text: string | undefined, wrong: ProblemReporter) {
  if (text === undefined) return
  const fix =
    'Use 32 or more random characters (openssl rand -hex 32), or leave it out: one is made and kept.'
  if (text.length < SECRET_MIN) wrong('TOWPATH_SECRET', `has only ${text.length} characters`, fix)
  else if (PLACEHOLDER.test(text)) wrong('TOWPATH_SECRET', 'is a placeholder', fix)
}

function makeDataDir(dataDir: string, wrong: ProblemReporter) {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const probe = join(dataDir, '.writable')
    writeFileSync(probe, '')
    rmSync(probe, { force: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    wrong('DATA_DIR', `cannot be written (${reason})`, 'Name a directory that this user may write to.')
  }
}

/** The secret of this installation. The first start creates it. */
function readOrCreateSecret(dataDir: string): string {
  const path = join(dataDir, 'secret')
  if (!existsSync(path)) {
    // The complete file is linked into place: a command line may read the secret at the same moment, or create it, and
    // then its secret counts.
    const draft = `${path}.${randomToken(6)}`
    writeFileSync(draft, `${randomToken(32)}\n`, { mode: 0o600, flag: 'wx' })
    try {
      linkSync(draft, path)
    } catch {
      // Another process has created the file in the meantime, or the file system has no hard links.
      if (!existsSync(path)) renameSync(draft, path)
    } finally {
      rmSync(draft, { force: true })
    }
  }
  const secret = readFileSync(path, 'utf8').trim()
  if (secret.length >= SECRET_MIN) return secret
  throw new ConfigError([
    `TOWPATH_SECRET: the file ${path} is damaged. Restore it from a backup, or delete it to make a new secret.`,
  ])
}

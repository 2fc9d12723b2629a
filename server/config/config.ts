// Reads the environment; no other file does. Reports all wrong values together, each with its fix.

import type { BackupSettings } from '../features/backup/schedule.ts'
import type { TurnstileKeys } from '../features/forms/captcha/turnstile.ts'
import type { Network } from '../lib/ip-network.ts'
import type { Plan } from '../lib/plan.ts'
import { findGeoProblem } from '../storage/geo.ts'
import { readAbuseEmail, readBlocklistPath } from './abuse-settings.ts'
import { readAliases, readHost, readNetworks, readOrigin, readPaths, readPort } from './address-settings.ts'
import { readBackups } from './backup-settings.ts'
import { type ClusterSettings, readCluster } from './cluster-settings.ts'
import { readDnsServers } from './dns-settings.ts'
import { readPlan, readSchemes, readSwitch, readTurnstile } from './feature-settings.ts'
import { type MailSettings, readMail } from './mail-settings.ts'
import { type MetricsSettings, readMetrics } from './metrics-settings.ts'
import { type ObservabilitySettings, readObservability } from './observability-settings.ts'
import { ConfigError, type GetSetting, type ProblemReporter } from './setting.ts'
import { SETTING_NAMES } from './setting-groups.ts'
import { readOidc, readSignup, type SignInSettings } from './sign-in-settings.ts'
import {
  checkSecret,
  type DataDirectory,
  findDataDirectory,
  makeDataDir,
  readDatabaseUrl,
  readDiskReserve,
  readOrCreateSecret,
  readRetention,
  readStorageLimits,
} from './storage-settings.ts'
import { type BucketSettings, readUploads } from './upload-settings.ts'

export interface Config
  extends ClusterSettings,
    MailSettings,
    MetricsSettings,
    ObservabilitySettings,
    SignInSettings,
    BucketSettings {
  port: number
  /** The address to listen on; absent for every one of this machine, IPv6 and IPv4. */
  host?: string
  /** The public origin without a trailing slash, such as `https://go.example`. */
  origin: string
  /** Other names of the default domain, in lower case and ASCII (IDNA). */
  aliases: string[]
  dataDir: string
  databaseUrl: string | undefined
  secret: string
  trustProxy: Network[]
  geoipDb: string | undefined
  defaultPlan: Plan
  /** Schemes besides http and https that a destination may have, such as `myapp:`. */
  destinationSchemes: string[]
  /** A file of hosts that no link may lead to. */
  destinationBlocklist?: string
  /** The address for reports about links. Pages then link to it. */
  abuseEmail?: string
  /** Cloudflare's captcha, where the operator has keys for it. Otherwise forms have the built-in proof of work. */
  turnstile?: TurnstileKeys
  /** The path of the tracking snippet. The operator can change it, because ad blockers block by name. */
  snippetPath: string
  /** The first segment of the paths that the snippet calls. */
  intakePath: string
  /** DNS servers for the lookups of workspaces' domains, as `host:port`; undefined: those of the system. */
  dnsServers?: string[]
  /** Private networks that webhooks may reach. */
  webhookAllow: Network[]
  /** Hits older than this are deleted. Without it, hits are kept forever. */
  hitRetentionDays?: number
  /** Below this free space on the disk of `dataDir`, less data of strangers is recorded; 0: never. */
  diskReserveBytes: number
  /** Limits on rows that strangers cause for one workspace in a day; ten times that for all together. */
  pageViewsPerDay: number
  submissionsPerDay: number
  /** The most bytes of all files of one workspace. */
  uploadBytesPerWorkspace: number
  /** Scheduled backups. */
  backups?: BackupSettings
  /** Whether the server answers plain redirects before `Bun.serve` reads them. */
  fastPath: boolean
  /** Fetch the icons of destinations for the dashboard. */
  favicons: boolean
}

type Environment = Record<string, string | undefined>

// Kubernetes sets these variables in every container if a Service is called towpath.
const FROM_KUBERNETES = /^TOWPATH_(SERVICE_(HOST|PORT)|PORT)(_|$)/

const toGetSetting =
  (env: Environment): GetSetting =>
  (name) => {
    const value = env[name]?.trim()
    return value === '' ? undefined : value
  }

/** Reads only the location of the data directory, and creates nothing. */
export const readDataDirectory = (env: Environment = process.env): DataDirectory =>
  findDataDirectory(toGetSetting(env))

/** The server and the API key of `towpath mcp`. Both may belong to another machine. */
export function readApiAccess(env: Environment = process.env): { url?: string; key?: string } {
  const get = toGetSetting(env)
  return { url: get('TOWPATH_URL'), key: get('TOWPATH_API_KEY') }
}

/** The settings before a start, which finds or makes the secret. */
export interface ConfigInspection {
  /** A setting with a problem has its default here. */
  config: Omit<Config, 'secret'>
  /** TOWPATH_SECRET, where it is set. */
  secret: string | undefined
  /** One line for each. */
  problems: string[]
}

/** Reads all settings, and makes nothing. */
export function inspectConfig(env: Environment = process.env): ConfigInspection {
  const problems: string[] = []
  const get = toGetSetting(env)
  const wrong = toReporter(problems)
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('TOWPATH_') && !SETTING_NAMES.includes(name) && !FROM_KUBERNETES.test(name),
  )
  for (const name of unknown) wrong(name, 'is not a setting', `Settings are ${SETTING_NAMES.join(', ')}.`)

  const port = readPort(get('PORT'), wrong)
  const host = readHost(get('HOST'), wrong)
  const { path: dataDir } = findDataDirectory(get)
  const config = {
    port,
    host,
    origin: readOrigin(get('TOWPATH_URL'), host, port, wrong),
    aliases: readAliases(get('TOWPATH_ALIASES'), wrong),
    dataDir,
    databaseUrl: readDatabaseUrl(get('DATABASE_URL'), wrong),
    ...readCluster(get, port, wrong),
    trustProxy: readNetworks('TRUST_PROXY', get, wrong),
    geoipDb: get('GEOIP_DB'),
    defaultPlan: readPlan(get('DEFAULT_PLAN'), wrong),
    destinationSchemes: readSchemes(get('DESTINATION_SCHEMES'), wrong),
    destinationBlocklist: readBlocklistPath(get('DESTINATION_BLOCKLIST'), wrong),
    abuseEmail: readAbuseEmail(get('ABUSE_EMAIL'), wrong),
    turnstile: readTurnstile(get, wrong),
    ...readPaths(get, wrong),
    webhookAllow: readNetworks('WEBHOOK_ALLOW_CIDRS', get, wrong),
    dnsServers: readDnsServers(get('DNS_SERVERS'), wrong),
    ...readMail(get, wrong),
    ...readMetrics(get, wrong),
    signup: readSignup(get, wrong),
    oidc: readOidc(get, wrong),
    hitRetentionDays: readRetention(get('HIT_RETENTION_DAYS'), wrong),
    diskReserveBytes: readDiskReserve(get('DISK_RESERVE_MB'), wrong),
    ...readStorageLimits(get, wrong),
    ...readUploads(get, wrong),
    backups: readBackups(get, dataDir, wrong),
    fastPath: readSwitch('FAST_PATH', get('FAST_PATH'), wrong),
    favicons: readSwitch('FAVICONS', get('FAVICONS'), wrong),
    ...readObservability(get, wrong),
  }
  const badGeo = config.geoipDb === undefined ? undefined : findGeoProblem(config.geoipDb)
  if (badGeo) wrong('GEOIP_DB', badGeo, 'Give the path of an .mmdb file, or leave it out.')
  checkSecret(get('TOWPATH_SECRET'), wrong)
  return { config, secret: get('TOWPATH_SECRET'), problems }
}

/** @throws ConfigError with every problem */
export function readConfig(env: Environment = process.env): Config {
  const { config, secret, problems } = inspectConfig(env)
  const { dataDir } = config
  makeDataDir(dataDir, toReporter(problems))
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...config, secret: secret ?? readOrCreateSecret(dataDir) }
}

const toReporter =
  (problems: string[]): ProblemReporter =>
  (name, what, fix) => {
    problems.push(`${name}: ${what}. ${fix}`)
  }

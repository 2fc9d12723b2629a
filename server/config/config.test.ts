import { afterAll, describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from './config.ts'
import { ConfigError } from './setting.ts'

const base = mkdtempSync(join(tmpdir(), 'towpath-test-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let made = 0
const freshDir = () => join(base, String(made++))
const read = (env: Record<string, string | undefined> = {}) => readConfig({ DATA_DIR: freshDir(), ...env })

function problemsOf(env: Record<string, string | undefined>): string[] {
  try {
    read(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

test('works without any setting', () => {
  const { secret, dataDir, ...config } = read()
  expect(config).toEqual({
    port: 3000,
    host: undefined,
    origin: 'http://localhost:3000',
    aliases: [],
    databaseUrl: undefined,
    clickHouseUrls: undefined,
    databasePool: 10,
    workers: 1,
    innerPort: undefined,
    trustProxy: [],
    geoipDb: undefined,
    defaultPlan: 'enterprise',
    destinationSchemes: [],
    turnstile: undefined,
    snippetPath: 't.js',
    intakePath: 'e',
    webhookAllow: [],
    metricsAllow: [],
    signup: 'invite',
    oidc: undefined,
    mailPerDay: 1000,
    diskReserveBytes: 1024 ** 3,
    pageViewsPerDay: 5_000_000,
    submissionsPerDay: 1_000_000,
    uploadBytesPerWorkspace: 10 * 1024 ** 3,
    fastPath: true,
    favicons: true,
    logLevel: 'info',
    logFormat: 'json',
    slowRequestMs: 1000,
  })
  expect(secret.length).toBeGreaterThanOrEqual(32)
  expect(statSync(dataDir).mode & 0o777).toBe(0o700)
})

test('reads SIGNUP and the identity provider', () => {
  const OIDC_ISSUER = 'https://id.example/realms/works'
  const oidc = { OIDC_ISSUER, OIDC_CLIENT_ID: 'towpath', OIDC_CLIENT_SECRET: 'hunter2' }
  const read_ = { issuer: OIDC_ISSUER, clientId: 'towpath', clientSecret: 'hunter2' }
  const mail = { SMTP_URL: 'smtp://127.0.0.1', MAIL_FROM: 'go@towpath.example' }
  expect(read({ SIGNUP: 'open', ...mail }).signup).toBe('open')
  expect(read(oidc).oidc).toEqual({ ...read_, name: 'id.example' })
  expect(read({ ...oidc, OIDC_NAME: 'Works' }).oidc).toEqual({ ...read_, name: 'Works' })
  for (const [env, wrong] of [
    [{ SIGNUP: 'Open' }, ['SIGNUP']],
    [{ SIGNUP: 'open' }, ['SIGNUP']],
    [{ MAIL_PER_DAY: '0' }, ['MAIL_PER_DAY']],
    [{ MAIL_PER_DAY: 'many' }, ['MAIL_PER_DAY']],
    [{ OIDC_ISSUER }, ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET']],
    [{ OIDC_NAME: 'Works' }, ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET']],
    [{ ...oidc, OIDC_ISSUER: 'id.example' }, ['OIDC_ISSUER']],
    [{ ...oidc, OIDC_ISSUER: 'ftp://id.example' }, ['OIDC_ISSUER']],
  ] as const) {
    const problems = problemsOf(env)
    expect(problems.map((problem) => problem.split(':', 1)[0] as string)).toEqual([...wrong])
    expect(problems.join()).not.toContain('hunter2')
  }
})

test('reads where backups go, how often they are made and how many stay', () => {
  const dataDir = freshDir()
  expect(read({}).backups).toBeUndefined()
  expect(read({ BACKUP_DIR: '/var/backups' }).backups).toEqual({ dir: '/var/backups', hours: 24, keep: 7 })
  const all = { BACKUP_DIR: '/var/backups', BACKUP_HOURS: '1', BACKUP_KEEP: '30' }
  expect(read(all).backups).toEqual({ dir: '/var/backups', hours: 1, keep: 30 })
  for (const [env, wrong] of [
    [{ BACKUP_HOURS: '12' }, 'BACKUP_HOURS'],
    [{ ...all, BACKUP_HOURS: '0' }, 'BACKUP_HOURS'],
    [{ ...all, BACKUP_KEEP: 'all' }, 'BACKUP_KEEP'],
    [{ ...all, DATA_DIR: dataDir, BACKUP_DIR: dataDir }, 'BACKUP_DIR'],
    [{ ...all, DATA_DIR: dataDir, BACKUP_DIR: join(dataDir, 'b') }, 'BACKUP_DIR'],
  ] as const)
    expect(problemsOf(env).map((problem) => problem.split(':', 1)[0])).toEqual([wrong])
})

test('takes an empty value as not set', () => {
  const names = `PORT TOWPATH_URL DATABASE_URL TOWPATH_SECRET TRUST_PROXY CLICKHOUSE_URL TURNSTILE_SITE_KEY
    TURNSTILE_SECRET_KEY TURNSTILE_VERIFY_URL SNIPPET_PATH INTAKE_PATH WEBHOOK_ALLOW_CIDRS SMTP_URL MAIL_FROM`
  const empty = { HOST: ' ', ...Object.fromEntries(names.split(/\s+/).map((name) => [name, ''])) }
  expect(read(empty)).toMatchObject({ port: 3000, host: undefined, databaseUrl: undefined, trustProxy: [] })
})

describe('reads settings', () => {
  test.each([
    ['PORT', '8080', { port: 8080, origin: 'http://localhost:8080' }],
    ['HOST', '127.0.0.1', { host: '127.0.0.1', origin: 'http://127.0.0.1:3000' }],
    ['HOST', '::', { host: '::', origin: 'http://localhost:3000' }],
    ['HOST', '[::1]', { host: '::1', origin: 'http://[::1]:3000' }],
    ['HOST', '0.0.0.0', { host: '0.0.0.0', origin: 'http://localhost:3000' }],
    ['HOST', '0:0:0:0:0:0:0:0', { origin: 'http://localhost:3000' }],
    ['HOST', '2001:DB8::0:1', { origin: 'http://[2001:db8::1]:3000' }],
    ['HOST', 'Go.Example', { origin: 'http://go.example:3000' }],
    ['PORT', '80', { origin: 'http://localhost' }],
    ['HOST', 'localhost', { host: 'localhost', origin: 'http://localhost:3000' }],
    ['TOWPATH_URL', 'https://go.example', { origin: 'https://go.example' }],
    ['TOWPATH_URL', 'https://GO.example:8443/', { origin: 'https://go.example:8443' }],
    [
      'TOWPATH_ALIASES',
      'Old.example., go.münchen.example',
      { aliases: ['old.example', 'go.xn--mnchen-3ya.example'] },
    ],
    ['DATABASE_URL', 'postgresql://u:p@h:5432/d', { databaseUrl: 'postgresql://u:p@h:5432/d' }],
    ['DEFAULT_PLAN', 'Pro', { defaultPlan: 'pro' }],
    ['DESTINATION_SCHEMES', 'MyApp, tel: other://', { destinationSchemes: ['myapp:', 'tel:', 'other:'] }],
    ['DISK_RESERVE_MB', '0', { diskReserveBytes: 0 }],
    ['DISK_RESERVE_MB', '256', { diskReserveBytes: 256 * 1024 * 1024 }],
    ['HIT_RETENTION_DAYS', '1', { hitRetentionDays: 1 }],
    ['HIT_RETENTION_DAYS', '365', { hitRetentionDays: 365 }],
    ['SNIPPET_PATH', 'Boat.js', { snippetPath: 'Boat.js', intakePath: 'e' }],
    ['INTAKE_PATH', 'harbour', { snippetPath: 't.js', intakePath: 'harbour' }],
    ['FAST_PATH', 'on', { fastPath: true }],
    ['FAST_PATH', 'off', { fastPath: false }],
    ['LOG_LEVEL', 'warn', { logLevel: 'warn' }],
    ['TOWPATH_SECRET', 'f3a9c1d7'.repeat(4), { secret: 'f3a9c1d7'.repeat(4) }],
  ])('%s=%s', (name, value, expected) => {
    expect(read({ [name]: value })).toMatchObject(expected)
  })

  test('TRUST_PROXY accepts addresses and ranges, with commas or spaces', () => {
    const { trustProxy } = read({ TRUST_PROXY: '10.0.0.0/8, 127.0.0.1 fd00::/8,' })
    expect(trustProxy.map(([base, bits]) => `${base}/${bits}`)).toEqual([
      '10.0.0.0/8',
      '127.0.0.1/32',
      'fd00::/8',
    ])
  })

  test('DNS_SERVERS accepts addresses of both kinds, with a port or without', () => {
    const { dnsServers } = read({ DNS_SERVERS: '9.9.9.9:53, 192.0.2.1,[2620:fe::fe]:5353 [::1] 2620:fe::9' })
    expect(dnsServers).toEqual(['9.9.9.9:53', '192.0.2.1', '[2620:fe::fe]:5353', '[::1]', '2620:fe::9'])
  })

  test('WEBHOOK_ALLOW_CIDRS accepts the same', () => {
    const { webhookAllow } = read({ WEBHOOK_ALLOW_CIDRS: '192.168.1.7 fd00::/8' })
    expect(webhookAllow.map(([base, bits]) => `${base}/${bits}`)).toEqual(['192.168.1.7/32', 'fd00::/8'])
  })

  test('Turnstile has two keys, and an optional address', () => {
    const keys = { TURNSTILE_SITE_KEY: '0xsite', TURNSTILE_SECRET_KEY: '0xsecret' }
    expect(read(keys).turnstile).toEqual({
      siteKey: '0xsite',
      secretKey: '0xsecret',
      verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    })
    const elsewhere = read({ ...keys, TURNSTILE_VERIFY_URL: 'http://127.0.0.1:9/verify' }).turnstile
    expect(elsewhere?.verifyUrl).toBe('http://127.0.0.1:9/verify')
  })

  test('the snippet and its intake must have different paths', () => {
    const problem = 'INTAKE_PATH: "Boat" is the name of the snippet too. Choose another one.'
    expect(problemsOf({ SNIPPET_PATH: 'boat', INTAKE_PATH: 'Boat' })).toEqual([problem])
  })

  test.each([
    ['smtp://mail.example:587', 'leads@example.com'],
    ['smtps://user:p%40ss@mail.example', 'Leads of Example <leads@example.com>'],
  ])('mail leaves by SMTP_URL=%s, from MAIL_FROM=%s', (smtpUrl, mailFrom) => {
    expect(read({ SMTP_URL: smtpUrl, MAIL_FROM: mailFrom })).toMatchObject({ smtpUrl, mailFrom })
  })

  describe('uploads go to a bucket by UPLOADS_S3_URL', () => {
    test.each([
      ['https://AK:s%2Fe%2Bc@s3.eu-central-1.amazonaws.com/files?region=eu-central-1', 'eu-central-1', ''],
      ['https://AK:s%2Fe%2Bc@minio.example:9000/files/a/b/', 'us-east-1', 'a/b'],
      ['http://AK:s%2Fe%2Bc@10.0.0.9:9000/files', 'us-east-1', ''],
      ['http://AK:s%2Fe%2Bc@minio:9000/files', 'us-east-1', ''],
    ])('%s', (url, region, prefix) => {
      const { uploadBucket, uploadNotice } = read({ UPLOADS_S3_URL: url })
      expect(uploadBucket).toEqual({
        endpoint: new URL(url).origin,
        bucket: 'files',
        prefix,
        region,
        accessKeyId: 'AK',
        secretAccessKey: 's/e+c',
      })
      expect(uploadNotice === undefined).toBe(url.startsWith('https:'))
    })

    test.each([
      ['s3://AK:secret@host/files', 'is not the address of a bucket'],
      ['AK:secret', 'is not the address of a bucket'],
      ['https://AK:sec/ret@host/files', 'is not the address of a bucket'],
      ['https://host/files', 'has no key and secret'],
      ['https://AK@host/files', 'has no key and secret'],
      ['https://AK:%E0%A4%A@host/files', 'has no key and secret'],
      ['https://AK:secret@host/', 'names no bucket'],
      ['https://AK:secret@host/Up_per', 'names no bucket'],
      ['https://AK:secret@host/files?acl=public', 'has a query that is not understood'],
      ['https://AK:secret@host/files?region=eu&region=us', 'has a query that is not understood'],
      ['http://AK:secret@s3.example.com/files', 'has http'],
      ['http://AK:secret@8.8.8.8/files', 'has http'],
    ])('%s is refused, and its secret is not repeated', (url, what) => {
      const problems = problemsOf({ UPLOADS_S3_URL: url })
      expect(problems.join()).toContain(`UPLOADS_S3_URL: ${what}`)
      expect(problems.join()).not.toMatch(/secret@|sec\/ret/)
    })
  })

  describe('a password goes to the mail server encrypted', () => {
    const readMailOf = (url: string, insecure = '') =>
      read({ SMTP_URL: url, SMTP_INSECURE: insecure, MAIL_FROM: 'leads@example.com' })

    test.each([
      ['smtp://user:p%40ss@mail.example:587', 'smtp://user:p%40ss@mail.example:587?requireTLS=true'],
      ['smtp://user@mail.example', 'smtp://user@mail.example?requireTLS=true'],
      ['smtp://u:p@10.0.0.9/?requireTLS=false&pool=1', 'smtp://u:p@10.0.0.9/?requireTLS=true&pool=1'],
      ['smtp://u:p@localhost.example', 'smtp://u:p@localhost.example?requireTLS=true'],
    ])('%s requires STARTTLS, and the start says so', (url, expected) => {
      const { smtpUrl, mailNotice } = readMailOf(url)
      expect([smtpUrl, mailNotice]).toEqual([expected, expect.stringContaining('offers STARTTLS')])
      expect(mailNotice).not.toContain('p%40ss')
    })

    test.each(
      `smtp://mail.example smtps://u:p@mail.example smtp://u:p@localhost smtp://u:p@127.8.0.1
      smtp://u:p@[::1]:25`.split(/\s+/),
    )('%s stays as it is', (url) => {
      const { smtpUrl, mailNotice } = readMailOf(url)
      expect([smtpUrl, mailNotice]).toEqual([url, undefined])
    })

    test('unless SMTP_INSECURE=on, and the start says so', () => {
      const { smtpUrl, mailNotice } = readMailOf('smtp://u:p@mail.example', 'on')
      expect([smtpUrl, mailNotice]).toEqual([
        'smtp://u:p@mail.example',
        expect.stringContaining('in clear text'),
      ])
    })
  })

  test('accepts the variables that Kubernetes sets for a Service with the name towpath', () => {
    const set = {
      TOWPATH_SERVICE_HOST: '10.0.0.1',
      TOWPATH_PORT: 'tcp://10.0.0.1:80',
      TOWPATH_PORT_80_TCP_ADDR: 'x',
      TOWPATH_SERVICE_PORT_HTTP: '80',
    }
    expect(problemsOf(set)).toEqual([])
  })
})

describe('reports wrong mail settings with a fix, and never the password', () => {
  const SMTP_URL = 'smtp://user:hunter2@mail.example:587'
  const MAIL_FROM = 'leads@example.com'
  const address =
    'SMTP_URL: is not the address of a mail server. Use smtp://user:password@host:587 or smtps://….'
  const sender = (text: string) =>
    `MAIL_FROM: "${text}" is not a sender. Use leads@example.com or Leads <leads@example.com>.`
  test.each([
    [{ SMTP_URL: 'mail.example:587', MAIL_FROM }, [address]],
    [{ SMTP_URL: 'https://user:hunter2@mail.example', MAIL_FROM }, [address]],
    [{ SMTP_URL, MAIL_FROM: 'Leads' }, [sender('Leads')]],
    [{ SMTP_URL, MAIL_FROM: 'a@example.com, b@example.com' }, [sender('a@example.com, b@example.com')]],
    [
      { SMTP_URL },
      ['MAIL_FROM: is missing, and SMTP_URL is set. Name the sender of emails, such as leads@example.com.'],
    ],
    [
      { SMTP_URL, MAIL_FROM, SMTP_INSECURE: 'yes' },
      [
        'SMTP_INSECURE: "yes" is neither on nor off. Leave it out, or use on to allow a password in clear text.',
      ],
    ],
    [{ MAIL_FROM }, ['SMTP_URL: is missing, and MAIL_FROM is set. Name the mail server, or leave both out.']],
  ])('%j', (set, expected) => {
    expect(problemsOf(set)).toEqual(expected)
  })
})

/** Settings with wrong values, and the sentence after the name: {} is the value. */
const WRONG: Record<string, string> = {
  'PORT=http|65536|0|-1|3e3': '"{}" is not a port. Use a whole number from 1 to 65535, such as 3000.',
  'HOST=a b|1.2.3|http://a':
    '"{}" is not an address to listen on. Leave it out for every one, or use 127.0.0.1.',
  'TOWPATH_URL=go.example|https://go.example/path|https://u:p@go.example|https://:p@go.example|ftp://go.example|https://go.example?x':
    '"{}" is not a public address. Use scheme and host only, such as https://go.example.',
  'DATABASE_URL=mysql://u:p@h/d':
    'is not a PostgreSQL address. Use postgres://user:password@host:5432/database.',
  'CLICKHOUSE_URL=clickhouse://h':
    'is not the address of a ClickHouse server. Use http://user:password@host:8123/database. Put a comma between replicas.',
  'DATABASE_POOL=0': '"{}" is not a whole number from 1 to 1000. Leave it out for 10.',
  'WORKERS=4':
    '{} processes cannot share SQLite and DuckDB, which belong to one process. Set DATABASE_URL and CLICKHOUSE_URL too, or leave WORKERS out.',
  'INNER_PORT=3000': 'is the same as PORT. Use another whole number from 1 to 65535, or leave it out.',
  'TOWPATH_ALIASES=https://old.example|old.example:8080|old.example/x|*.example|a@b.example|a..b%':
    '"{}" is not a host name. List names without scheme, port and path, such as old.example,go2.example.',
  'DNS_SERVERS=dns.example:53|9.9.9.9:0|9.9.9.9:65536|9.9.9.9:|[9.9.9.9]:53|[::1|1.2.3|udp://9.9.9.9':
    '"{}" is not the address of a DNS server. List addresses such as 9.9.9.9:53,[2620:fe::fe]:53, or leave it out for the servers of the system.',
  'TRUST_PROXY=1|true': '"{}" is not a network. List CIDR ranges, such as 10.0.0.0/8,127.0.0.1.',
  'WEBHOOK_ALLOW_CIDRS=internal': '"{}" is not a network. List CIDR ranges, such as 10.0.0.0/8,127.0.0.1.',
  [`INTAKE_PATH=/boat|a/b|a b|.hidden|%61|é|${'a'.repeat(64)}`]:
    '"{}" is not the name of a path. Use one name of letters, digits, "-", "_" and ".", such as e.',
  'INTAKE_PATH=Docs|t.js': '"{}" is the name of something else. Choose another one.',
  'SNIPPET_PATH=v1': '"{}" is the name of something else. Choose another one.',
  'TURNSTILE_VERIFY_URL=challenges.cloudflare.com|ftp://a/siteverify|https://u:p@a/siteverify':
    'is not an http or https URL. Leave it out for https://challenges.cloudflare.com/turnstile/v0/siteverify.',
  'GEOIP_DB=/nowhere.mmdb': 'there is no file {}. Give the path of an .mmdb file, or leave it out.',
  [`GEOIP_DB=${base}`]: '{} cannot be read (EISDIR). Give the path of an .mmdb file, or leave it out.',
  'HIT_RETENTION_DAYS=0|-1|1.5|1e3|30 days|forever|99999999999999999999':
    '"{}" is not a number of days. Use a whole number from 1, such as 365, or leave it out to keep hits forever.',
  'DEFAULT_PLAN=gold': '"{}" is not a plan. Use one of free, pro, business, scale, enterprise.',
  'DESTINATION_SCHEMES=javascript': '"{}:" can run code in the browser. Take it out.',
  'DESTINATION_SCHEMES=1app': '"{}:" is not a URL scheme. List names such as myapp,tel.',
  'FAST_PATH=0|false|Off|no': '"{}" is not a switch. Use on or off.',
  'LOG_LEVEL=loud': '"{}" is not a level. Use one of info, warn, error, silent.',
}

describe('reports wrong settings with a fix', () => {
  const file = join(base, 'a-file')
  writeFileSync(file, '')
  const cases = Object.entries(WRONG).flatMap(([setting, problem]) => {
    const [, name = '', values = ''] = /^(\w+)=(.*)$/.exec(setting) ?? []
    return values.split('|').map((value) => [name, value, problem.replace('{}', value)] as const)
  })
  test.each(cases)('%s=%s', (name, value, problem) => {
    expect(problemsOf({ [name]: value })).toEqual([`${name}: ${problem}`])
  })

  test('one key of Turnstile without the other', () => {
    const keys = ['TURNSTILE_SITE_KEY', 'TURNSTILE_SECRET_KEY'] as const
    for (const [set, missing] of [keys, keys.toReversed()] as [string, string][])
      expect(problemsOf({ [set]: '0x' })).toEqual([
        `${missing}: is missing, and the other key is set. Set both keys for Turnstile, or neither for the built-in proof of work.`,
      ])
  })

  test.each([
    ['short', 'abc', 'has only 3 characters'],
    ['short by one', 'f3a9c1d7'.repeat(4).slice(1), 'has only 31 characters'],
    ['a placeholder', 'change-me-please-change-me-please-1', 'is a placeholder'],
    ['another', 'YOUR_SECRET_GOES_HERE_0123456789ab', 'is a placeholder'],
    ['one letter', 'a'.repeat(40), 'is a placeholder'],
  ])('a secret that is %s', (_, secret, what) => {
    const [problem, ...others] = problemsOf({ TOWPATH_SECRET: secret })
    expect(problem).toStartWith(`TOWPATH_SECRET: ${what}. Use 32 or more random characters`)
    expect(problem).not.toContain(secret)
    expect(others).toEqual([])
  })

  test('a directory that cannot be created', () => {
    const [problem] = problemsOf({ DATA_DIR: join(file, 'sub') })
    expect(problem).toMatch(
      /^DATA_DIR: cannot be written \(.+\)\. Name a directory that this user may write to\.$/,
    )
  })

  test('a setting that does not exist', () => {
    const [problem] = problemsOf({ TOWPATH_SECRETS: 'x' })
    expect(problem).toMatch(/^TOWPATH_SECRETS: is not a setting\. Settings are PORT, .*TOWPATH_SECRET/)
  })

  test('reports everything at once, and never a password', () => {
    const problems = problemsOf({
      PORT: 'x',
      DATABASE_URL: 'mysql://u:hunter2@h',
      LOG_LEVEL: 'y',
      DEFAULT_PLAN: 'z',
    })
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'PORT',
      'DATABASE_URL',
      'DEFAULT_PLAN',
      'LOG_LEVEL',
    ])
    expect(problems.join()).not.toContain('hunter2')
  })
})

describe('the secret of an installation', () => {
  test('is created once, and only its owner can read it', () => {
    const DATA_DIR = freshDir()
    const { secret } = readConfig({ DATA_DIR })
    expect(readConfig({ DATA_DIR }).secret).toBe(secret)
    expect(statSync(join(DATA_DIR, 'secret')).mode & 0o777).toBe(0o600)
    expect(readdirSync(DATA_DIR)).toEqual(['secret'])
    expect(read().secret).not.toBe(secret)
  })

  test('is not created when one is set, nor when another setting is wrong', () => {
    const [given, wrong] = [freshDir(), freshDir()]
    readConfig({ DATA_DIR: given, TOWPATH_SECRET: 'f3a9c1d7'.repeat(4) })
    problemsOf({ DATA_DIR: wrong, PORT: 'x' })
    expect([existsSync(join(given, 'secret')), existsSync(join(wrong, 'secret'))]).toEqual([false, false])
  })

  test('is never replaced silently when its file is damaged', () => {
    const DATA_DIR = freshDir()
    mkdirSync(DATA_DIR)
    writeFileSync(join(DATA_DIR, 'secret'), 'torn')
    expect(problemsOf({ DATA_DIR })).toEqual([
      `TOWPATH_SECRET: the file ${join(DATA_DIR, 'secret')} is damaged. Restore it from a backup, or delete it to make a new secret.`,
    ])
    expect(readFileSync(join(DATA_DIR, 'secret'), 'utf8')).toBe('torn')
  })

  test('is the same for processes that start at the same time', async () => {
    const DATA_DIR = freshDir()
    const script = `const { readConfig } = await import(${JSON.stringify(join(import.meta.dir, 'config.ts'))}); console.log(readConfig().secret)`
    const secrets = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const process_ = Bun.spawn([process.execPath, '-e', script], {
          env: { PATH: process.env.PATH, DATA_DIR },
          stderr: 'pipe',
        })
        return new Response(process_.stdout).text()
      }),
    )
    expect(new Set(secrets)).toEqual(new Set([readFileSync(join(DATA_DIR, 'secret'), 'utf8')]))
  })
})

test('reads the settings of the log and of slow requests', () => {
  expect(read({ LOG_FORMAT: 'pretty', SLOW_REQUEST_MS: '0' })).toMatchObject({
    logFormat: 'pretty',
    slowRequestMs: 0,
  })
  expect(problemsOf({ LOG_FORMAT: 'colourful', SLOW_REQUEST_MS: '1s', LOG_LEVEL: 'debug' })).toEqual([
    'LOG_LEVEL: "debug" is not a level. Use one of info, warn, error, silent.',
    'LOG_FORMAT: "colourful" is not a format. Use one of json, pretty.',
    'SLOW_REQUEST_MS: "1s" is not a number of milliseconds. Use a whole number up to 3600000, 0 for no such lines, or leave it out for 1000.',
  ])
})

test('reads where traces go, by the names that OpenTelemetry gives the settings', () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'https://otlp.example/tenant/'
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT }).tracing).toEqual({
    url: 'https://otlp.example/tenant/v1/traces',
    serviceName: 'towpath',
    headers: {},
    sampler: 'parentbased_always_on',
    ratio: 1,
  })
  expect(
    read({
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_SERVICE_NAME: 'links',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a=b, x-tenant=1',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    }).tracing,
  ).toMatchObject({
    serviceName: 'links',
    headers: { authorization: 'Bearer a=b', 'x-tenant': '1' },
    sampler: 'traceidratio',
    ratio: 0.25,
  })
  // Without an endpoint they are for another program.
  expect(read({ OTEL_TRACES_SAMPLER: 'jaeger_remote' }).tracing).toBeUndefined()
})

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://hunter2@otlp.example:4317' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'authorization: hunter2' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hunter2%0Ax: y' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
  [{ OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER'],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '10' }, 'OTEL_TRACES_SAMPLER_ARG'],
])('a wrong setting of traces is named without its secret: %p', (environment, name) => {
  const problems = problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...environment })
  expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name}: `))])
  expect(problems.join()).not.toContain('hunter2')
})

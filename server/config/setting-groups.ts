// Every setting by group, with its default and its meaning. `npm run docs:settings` writes docs/settings.md from this list,
// and the start refuses names beginning with TOWPATH_ that are not in it. Links are relative to docs/.

type Documentation = readonly [standard: string, meaning: string]

export const SETTING_GROUPS = {
  Addresses: {
    PORT: ['3000', 'Port to listen on.'],
    HOST: ['every address, IPv6 and IPv4', 'Address to listen on.'],
    TOWPATH_URL: ['`http://localhost:PORT`', 'Public origin, such as `https://go.example`.'],
    TOWPATH_ALIASES: [
      'none',
      'Other names of the host in `TOWPATH_URL`, such as `old.example,towpath.internal`. Every other name gets 404, except verified domains of workspaces, IP addresses and names without a dot.',
    ],
    TRUST_PROXY: [
      'none',
      'Networks of your reverse proxies, such as `10.0.0.0/8,127.0.0.1`. Only their forwarding headers count.',
    ],
    INNER_PORT: [
      'none',
      'Second port, to which a balancer sends all requests except plain redirects ([hosting](hosting.md#a-balancer-that-keeps-connections)).',
    ],
    SNIPPET_PATH: ['`t.js`', 'Path of the snippet. Change it if ad blockers block this name.'],
    INTAKE_PATH: ['`e`', 'First segment of the paths that the snippet calls. Change it with `SNIPPET_PATH`.'],
    FAST_PATH: [
      '`on`',
      '`off` sends plain redirects through the general HTTP server: slower, with the same answers.',
    ],
  },
  Storage: {
    DATA_DIR: ['`./data`', 'Directory for all data.'],
    TOWPATH_SECRET: [
      'generated and stored in `DATA_DIR`',
      'Signs click ids, and encrypts event ids and stored secrets. At least 32 characters, and the same on all servers of one PostgreSQL.',
    ],
    DATABASE_URL: ['SQLite in `DATA_DIR`', '`postgres://…` stores the rows in PostgreSQL.'],
    DATABASE_POOL: ['10', 'Connections of one process to PostgreSQL, 1 to 1,000.'],
    CLICKHOUSE_URL: [
      'DuckDB in `DATA_DIR`',
      '`http://user:password@host:8123/database` stores the clicks in ClickHouse. Separate replicas with commas.',
    ],
    WORKERS: [
      '1',
      'Server processes that share the port of this machine, one for each core. More than one needs PostgreSQL and ClickHouse.',
    ],
    GEOIP_DB: ['bundled country database', 'An `.mmdb` file with regions and cities.'],
    UPLOADS_S3_URL: [
      '`DATA_DIR/uploads`',
      'S3-compatible bucket for files of forms: `https://KEY:SECRET@host/bucket?region=eu-central-1`. A cluster needs one ([hosting](hosting.md#files-of-forms)).',
    ],
  },
  'Limits and retention': {
    HIT_RETENTION_DAYS: ['no limit', 'Age in days at which clicks are deleted, once a day.'],
    DISK_RESERVE_MB: [
      '1024',
      'Free space in MB to keep. Below it, or below 5 % of the disk, one click in ten is recorded and forms answer 503. `0` switches this off.',
    ],
    UPLOAD_BYTES_PER_WORKSPACE: [
      '10 GiB',
      'Space for the files of one workspace, in bytes or such as `500 MiB`. When it is full, forms refuse files (422).',
    ],
    SUBMISSIONS_PER_DAY: [
      '1000000',
      'Submissions that one workspace may store in 24 hours; a server stores ten times as many. Forms then answer 429.',
    ],
    PAGE_VIEWS_PER_DAY: ['5000000', 'The same limit for page views.'],
  },
  'People and sign-in': {
    DEFAULT_PLAN: [
      '`enterprise`',
      'Plan of new workspaces: `free`, `pro`, `business`, `scale`, `enterprise`.',
    ],
    SIGNUP: [
      '`invite`',
      'Who may sign up after the first account: `invite` (people with an invitation) or `open` (everybody who confirms an address; needs `SMTP_URL`).',
    ],
    OIDC_ISSUER: [
      'none',
      'Address of an identity provider (OpenID Connect) to sign in with. Set it together with the next two.',
    ],
    OIDC_CLIENT_ID: ['none', 'Client id at the identity provider.'],
    OIDC_CLIENT_SECRET: ['none', 'Client secret at the identity provider.'],
    OIDC_NAME: ['its host name', 'Name of the identity provider on the sign-in page.'],
  },
  'Links, domains and forms': {
    DESTINATION_SCHEMES: [
      'none',
      'Allowed schemes of destinations besides http and https, such as `myapp,tel`.',
    ],
    DESTINATION_BLOCKLIST: [
      'none',
      'File of blocked destination hosts, one per line. It is read again when it changes.',
    ],
    ABUSE_EMAIL: ['none', 'Address for reports of bad links. Previews and password pages then link to it.'],
    DNS_SERVERS: [
      "the system's",
      'DNS servers for checks of workspace domains, such as `9.9.9.9:53,[2620:fe::fe]:53`.',
    ],
    WEBHOOK_ALLOW_CIDRS: [
      'none',
      'Private networks that webhooks, page checks and cards of destinations may reach.',
    ],
    FAVICONS: ['`on`', '`off`: the dashboard shows letters instead of icons of destinations.'],
    TURNSTILE_SITE_KEY: [
      'built-in proof of work',
      'Site key of Cloudflare Turnstile. Set it together with the secret key.',
    ],
    TURNSTILE_SECRET_KEY: ['built-in proof of work', 'Secret key of Cloudflare Turnstile.'],
    TURNSTILE_VERIFY_URL: ["Cloudflare's", 'Address that verifies tokens of Turnstile.'],
  },
  Email: {
    SMTP_URL: ['none', 'Mail server, such as `smtps://user:password@mail.example:465`.'],
    MAIL_FROM: ['none', 'Sender of all emails. Set it together with `SMTP_URL`.'],
    SMTP_INSECURE: [
      '`off`',
      '`on` allows sending the password of `smtp://` to another machine without STARTTLS.',
    ],
    MAIL_PER_DAY: [
      '1000',
      'Maximum number of emails on one day (UTC). Each workspace has a fair share, and notifications, confirmations and replies each have a reserved part. Further emails wait for the next day; invitations are refused.',
    ],
  },
  Backups: {
    BACKUP_DIR: [
      'none',
      'Directory outside `DATA_DIR` for scheduled backups ([backup](backup.md#scheduled-backups)).',
    ],
    BACKUP_HOURS: ['24', 'Hours between two backups.'],
    BACKUP_KEEP: ['7', 'Number of backups to keep.'],
  },
  'Log, metrics and traces': {
    LOG_LEVEL: ['`info`', '`info`, `warn`, `error` or `silent`.'],
    LOG_FORMAT: ['`json`', '`json` writes one object per line, `pretty` lines for people.'],
    SLOW_REQUEST_MS: ['1000', 'Log requests that take at least this many milliseconds. `0`: never.'],
    METRICS_ALLOW: [
      'none',
      'Networks that may read `/metrics` and `/version`, such as `10.0.0.0/8`. This machine always may.',
    ],
    METRICS_TOKEN: [
      'none',
      'Token for `/metrics` and `/version`, sent as `Authorization: Bearer …`. At least 16 characters.',
    ],
    OTEL_EXPORTER_OTLP_ENDPOINT: [
      'none',
      'Receiver of traces, such as `http://127.0.0.1:4318` ([observability](observability.md#traces)).',
    ],
    OTEL_EXPORTER_OTLP_HEADERS: ['none', 'Headers for the receiver, as `name=value,name=value`.'],
    OTEL_SERVICE_NAME: ['`towpath`', 'Name of the service in traces.'],
    OTEL_TRACES_SAMPLER: ['`parentbased_always_on`', 'Sampler of traces, by the names of OpenTelemetry.'],
    OTEL_TRACES_SAMPLER_ARG: ['1', 'Share of traces to keep, for samplers with a ratio.'],
  },
  'Command line': {
    TOWPATH_API_KEY: [
      'none',
      'API key of `npx towpath mcp` ([assistants](mcp.md)). The server does not use it.',
    ],
  },
} as const satisfies Record<string, Record<string, Documentation>>

type Groups = typeof SETTING_GROUPS

export type SettingName = { [Group in keyof Groups]: keyof Groups[Group] }[keyof Groups]

export const SETTING_NAMES: string[] = Object.values(SETTING_GROUPS).flatMap(Object.keys)

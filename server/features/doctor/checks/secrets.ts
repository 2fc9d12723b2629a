// Checks for secrets and passwords that can be guessed, and for a secret that differs from that of the stored data.

import { isPlaceholder } from '../../../lib/crypto/placeholder.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { hasInstanceSecret } from '../../cluster/instance.ts'
import { type CheckResult, complaintsOr, problem, warning } from '../finding.ts'
import { type DoctorNeeds, withRows } from '../needs.ts'

const SECRET_MIN = 32

export async function checkSecrets(needs: DoctorNeeds): Promise<CheckResult[]> {
  return complaintsOr(
    [...judgeSecret(needs.secret), ...(await judgeFingerprint(needs)), ...judgePasswords(needs)],
    'The secret is random enough, and no password is a placeholder.',
  )
}

function judgeSecret(secret: string | undefined): CheckResult[] {
  if (secret === undefined)
    return [
      warning('There is no secret yet.', 'Start the server once, which creates it, or set TOWPATH_SECRET.'),
    ]
  const fix =
    'Use 32 or more random characters (openssl rand -hex 32). All sessions and channel addresses end with the old one.'
  if (secret.length < SECRET_MIN) return [problem(`The secret has only ${secret.length} characters.`, fix)]
  if (isPlaceholder(secret)) return [problem('The secret is a placeholder, which everyone knows.', fix)]
  return []
}

/** With another secret a server refuses sessions, click ids and the addresses of channels. */
async function judgeFingerprint(needs: DoctorNeeds): Promise<CheckResult[]> {
  const { secret } = needs
  if (secret === undefined) return []
  // The check of the row store says when it cannot be read.
  const fits = await withRows(needs, ({ read }) => hasInstanceSecret(read, secret)).catch(() => undefined)
  if (fits !== false) return []
  return [
    problem(
      'The secret is not that of the servers that wrote this database.',
      'Give all servers one TOWPATH_SECRET. If you changed it on purpose: npx towpath secret accept, with all servers stopped.',
    ),
  ]
}

const COMMON = new Set(['postgres', 'towpath', 'admin', 'root', 'default', 'clickhouse', 'test', '123456'])

function judgePasswords({ settings }: DoctorNeeds): CheckResult[] {
  const urls = [
    ['DATABASE_URL', settings.databaseUrl],
    ['SMTP_URL', settings.smtpUrl],
    ...(settings.clickHouseUrls ?? []).map((url) => ['CLICKHOUSE_URL', url]),
  ] as const
  return urls.flatMap(([name, url]) => {
    const password = url === undefined ? '' : (parseUrl(url)?.password ?? '')
    if (password === '' || !(isPlaceholder(password) || COMMON.has(password.toLowerCase()))) return []
    return [
      warning(
        `${name} has a password that is a placeholder or a common word.`,
        `Change it there and in ${name} (openssl rand -hex 16).`,
      ),
    ]
  })
}

// Diagnoses a wrong CLICKHOUSE_URL before the server starts, in one sentence with the fix.

import { type ClickHouseAddress, parseClickHouseAddress } from './address.ts'
import { isReplicated } from './caught-up.ts'
import { CLICKHOUSE_CODES, ClickHouseError, isTlsReason, NO_TLS } from './clickhouse-error.ts'
import { type ClickHouseClient, createClickHouseClient } from './client.ts'
import { findLayoutProblem } from './layout.ts'

export interface ClickHouseProblem {
  /** The problem, and the fix. It has no password and no address. */
  sentence: string
  /** It can go away without the operator, so the server starts, and loads its batches later. */
  isTemporary: boolean
}

/**
 * The oldest release with `deduplicate_insert_select` that ClickHouse still maintains (it is an LTS release). The tests
 * run with 26.7.
 */
export const OLDEST_CLICKHOUSE = '26.3'

const TIMEOUT_MS = 10_000

/** @param instance the name of this installation: a database of another one is a problem */
export async function findClickHouseProblem(
  urls: string[],
  instance?: string,
): Promise<ClickHouseProblem | undefined> {
  const of = urls.length
  const problems = await Promise.all(
    urls.map((url, index) => {
      const name = of === 1 ? 'ClickHouse' : `ClickHouse server ${index + 1} of ${of}`
      return findServerProblem(url, { name, of }, instance)
    }),
  )
  const lasting = problems.find((problem) => problem && !problem.isTemporary)
  // One server that answers is enough.
  return lasting ?? (problems.every(Boolean) ? problems[0] : undefined)
}

interface ServerPlace {
  /** The server's name in sentences. */
  name: string
  /** The number of servers. */
  of: number
}

async function findServerProblem(
  url: string,
  place: ServerPlace,
  instance: string | undefined,
): Promise<ClickHouseProblem | undefined> {
  const client = createClickHouseClient([url])
  const address = parseClickHouseAddress(url)
  const { name, of } = place
  try {
    const sentence =
      (await findVersionProblem(client, name)) ??
      (await findRightsProblem(client, address, place)) ??
      (of > 1 ? await findReplicationProblem(client, address) : undefined) ??
      (await findLayoutProblem(client, instance))
    return sentence === undefined ? undefined : { sentence, isTemporary: false }
  } catch (error) {
    return explainError(error, address, place)
  } finally {
    await client.close()
  }
}

async function findVersionProblem(client: ClickHouseClient, name: string): Promise<string | undefined> {
  const version = await selectValue(client, 'SELECT version()')
  if (Bun.semver.order(toSemver(version), toSemver(OLDEST_CLICKHOUSE)) >= 0) return undefined
  return `${name} has version ${version}, and Towpath needs ${OLDEST_CLICKHOUSE} or newer: update ClickHouse.`
}

/** ClickHouse's versions have four numbers: year, month, patch, build. */
const toSemver = (version: string) => {
  const [year = '0', month = '0', patch = '0'] = version.split('.')
  return [year, month, patch].map(Number).join('.')
}

/** The second right is for `input()`, and the third one for reading the missing entries of a replica. */
const listRights = (database: string, hasReplicas: boolean) => [
  `SELECT, INSERT, CREATE TABLE, ALTER ADD COLUMN, ALTER UPDATE, ALTER DELETE ON \`${database}\`.*`,
  'CREATE TEMPORARY TABLE ON *.*',
  ...(hasReplicas ? ['SELECT ON system.replicas'] : []),
]

async function findRightsProblem(
  client: ClickHouseClient,
  { database, user }: ClickHouseAddress,
  { name, of }: ServerPlace,
): Promise<string | undefined> {
  const readOnly = await selectValue(client, "SELECT value FROM system.settings WHERE name = 'readonly'")
  if (readOnly !== '0' && readOnly !== '') return toReadOnlySentence(user, name)
  // The name of the database has letters, digits, _ and - only: config/cluster-settings.ts checks it.
  const rights = listRights(database, of > 1 || (await mayLackHits(client)))
  for (const right of rights)
    if ((await selectValue(client, `CHECK GRANT ${right}`)) === '0')
      return toRightsSentence(rights, user, name)
  return undefined
}

/** True also for a single address: each load checks that the replica has all hits of other servers. */
async function mayLackHits(client: ClickHouseClient): Promise<boolean> {
  const select: ClickHouseClient['select'] = (sql) => client.select(sql, { timeoutMs: TIMEOUT_MS })
  return isReplicated({ select })
}

const toReadOnlySentence = (user: string, name: string) =>
  `${name} lets the user “${user}” only read: give CLICKHOUSE_URL a user whose profile has readonly = 0.`
const toRightsSentence = (rights: string[], user: string, name: string) =>
  `${name} does not allow the user “${user}” what Towpath must do: run ${rights.map((right) => `GRANT ${right} TO ${user};`).join(' ')}`

/** Checks that the servers replicate their tables. Otherwise each would have only some of the hits. */
async function findReplicationProblem(
  client: ClickHouseClient,
  { database }: ClickHouseAddress,
): Promise<string | undefined> {
  const engine = await selectValue(
    client,
    'SELECT engine FROM system.databases WHERE name = currentDatabase()',
  )
  if (/^(Replicated|Shared)/.test(engine)) return undefined
  return (
    `CLICKHOUSE_URL names several servers, and the database “${database}” is not replicated between them: ` +
    'create it with ENGINE = Replicated, or name one server.'
  )
}

async function selectValue(client: ClickHouseClient, sql: string): Promise<string> {
  const [[value] = []] = await client.select(sql, { timeoutMs: TIMEOUT_MS })
  return String(value ?? '')
}

function explainError(
  error: unknown,
  address: ClickHouseAddress,
  { name, of }: ServerPlace,
): ClickHouseProblem {
  if (!(error instanceof ClickHouseError)) throw error
  const { code, reason = '', status = 0 } = error
  const { database, user } = address
  const lasting = (sentence: string) => ({ sentence, isTemporary: false })
  switch (code) {
    case undefined:
      return explainConnection(reason, name)
    case 0:
      return {
        sentence: `${name} does not answer as ClickHouse does (HTTP ${status}): CLICKHOUSE_URL needs the port of ClickHouse’s HTTP interface, usually 8123, or 8443 with https.`,
        isTemporary: status >= 500,
      }
    case CLICKHOUSE_CODES.unknownUser:
    case CLICKHOUSE_CODES.wrongPassword:
    case CLICKHOUSE_CODES.requiredPassword:
    case CLICKHOUSE_CODES.authenticationFailed:
      return lasting(
        `${name} refuses the user “${user}” or the password: correct them in CLICKHOUSE_URL, where a password has %40 for @ and %2F for /.`,
      )
    case CLICKHOUSE_CODES.unknownDatabase:
      return lasting(
        `${name} has no database “${database}”: run CREATE DATABASE \`${database}\`, or correct the name at the end of CLICKHOUSE_URL.`,
      )
    case CLICKHOUSE_CODES.readOnly:
      return lasting(toReadOnlySentence(user, name))
    case CLICKHOUSE_CODES.accessDenied:
      return lasting(toRightsSentence(listRights(database, of > 1), user, name))
    default:
      return {
        sentence: `${name} cannot be used now (its error ${code}): see the log of ClickHouse.`,
        isTemporary: true,
      }
  }
}

function explainConnection(reason: string, name: string): ClickHouseProblem {
  if (reason === NO_TLS)
    return {
      sentence: `${name} does not speak TLS on this port: use its HTTPS port, usually 8443, or http in CLICKHOUSE_URL.`,
      isTemporary: false,
    }
  if (isTlsReason(reason))
    return {
      sentence: `${name} has a certificate that cannot be trusted (${reason}): give it one for the name in CLICKHOUSE_URL, or set NODE_EXTRA_CA_CERTS to the file of its authority.`,
      isTemporary: false,
    }
  return {
    sentence: `${name} does not answer (${reason}): start it, or correct the host and the port in CLICKHOUSE_URL.`,
    isTemporary: true,
  }
}

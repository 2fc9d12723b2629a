// The row of the whole installation: its name, and a fingerprint of the secret that all nodes must share.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import { listLiveNodes, lockJoining } from './node-row.ts'

const readInstance = (connection: Connection) =>
  connection.selectFrom('instance').selectAll().where('id', '=', 1).executeTakeFirstOrThrow()

export async function readInstanceName(db: Pick<Database, 'read'>): Promise<string> {
  return (await readInstance(db.read)).name
}

/**
 * The first server leaves the fingerprint of its secret. With another secret a server would refuse click ids, sessions
 * and addresses of channels that this one made.
 * @throws a sentence for the operator, when the installation has another secret
 */
export async function verifySecret(connection: Connection, secret: string): Promise<void> {
  const { name, secret_fingerprint: known } = await readInstance(connection)
  const own = toFingerprint(secret, name)
  if (known === null) {
    await connection.updateTable('instance').set({ secret_fingerprint: own }).where('id', '=', 1).execute()
  } else if (!isSame(known, own)) {
    throw new Error(
      'The secret of this server is not that of the other servers on this database. Give all of them one ' +
        'TOWPATH_SECRET: where it was never set, the first server has it in its DATA_DIR, in the file "secret". If you ' +
        'changed the secret on purpose, stop all servers, run "npx towpath secret accept" once with the new one, and start ' +
        'them again.',
    )
  }
}

/** @returns undefined where no server has left a fingerprint: on SQLite there is one server */
export async function hasInstanceSecret(read: Connection, secret: string): Promise<boolean | undefined> {
  const { name, secret_fingerprint: known } = await readInstance(read)
  return known === null ? undefined : isSame(known, toFingerprint(secret, name))
}

/**
 * Makes this secret the one of the installation, unless a node runs: it would go on with the old one.
 * @returns the nodes that run; none when the secret is accepted
 */
export async function acceptSecret(db: Database, secret: string): Promise<string[]> {
  return db.write(async (connection) => {
    await lockJoining(connection)
    const live = await listLiveNodes(connection)
    if (live.length > 0) return live.map(({ node }) => node)
    const { name } = await readInstance(connection)
    await connection
      .updateTable('instance')
      .set({ secret_fingerprint: toFingerprint(secret, name) })
      .where('id', '=', 1)
      .execute()
    return []
  })
}

/** The name of the installation is in it, so nobody sees that two installations share a secret. */
const toFingerprint = (secret: string, instance: string) =>
  createHmac('sha256', secret).update(`towpath secret fingerprint 1 ${instance}`).digest('base64url')

function isSame(known: string, own: string): boolean {
  const [a, b] = [Buffer.from(known), Buffer.from(own)]
  return a.length === b.length && timingSafeEqual(a, b)
}

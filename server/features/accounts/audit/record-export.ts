// Records that data leaves the workspace as a file. An export changes nothing, so its event has its own transaction.

import type { Database } from '../../../storage/database/open-database.ts'
import { type AuditActor, type AuditEntry, recordAudit } from './record-audit.ts'

/**
 * Call it when the file is ready, before its first byte is sent: without its event no file leaves.
 * @throws Failure `unavailable`
 */
export async function recordExport(
  { db, now }: { db: Database; now: () => number },
  actor: AuditActor,
  entry: AuditEntry,
): Promise<void> {
  await db.write((connection) => recordAudit(connection, actor, entry, now()))
}

// Stores the analytics settings of an archive in a workspace that has none.

import { may } from '../../accounts/access/actor.ts'
import { AnalyticsSettingsInput } from '../../accounts/schema.ts'
import {
  hasAnalyticsSettings,
  readAnalyticsSettings,
  storeAnalyticsSettings,
} from '../../accounts/workspaces/analytics-settings.ts'
import type { ArchiveRecord } from '../archive/record-schemas.ts'
import {
  IMPORTED_BEFORE,
  type RecordOutcome,
  type RecordTransaction,
  toCreated,
  toSkipped,
} from './archive-import.ts'
import { hashAnalyticsSettings } from './hash-editable-fields.ts'
import { parseInput } from './parse-input.ts'

export async function storeAnalyticsRecord(
  { run, connection, onCommit }: RecordTransaction,
  record: ArchiveRecord<'settings.ndjson'>,
): Promise<RecordOutcome> {
  const { actor, needs } = run
  const item = { kind: 'settings', name: null } as const
  const settings = parseInput(AnalyticsSettingsInput, record)
  const current = await readAnalyticsSettings(connection, actor.workspaceId)
  const hash = hashAnalyticsSettings(settings)
  if (hashAnalyticsSettings(current) === hash) return toSkipped(item, IMPORTED_BEFORE)
  if (hasAnalyticsSettings(current)) return toSkipped(item, 'The workspace already has settings.')
  if (!may(actor, 'workspace:write'))
    return toSkipped(item, 'Only an owner may set them, and no API key: set them again.')
  await storeAnalyticsSettings(connection, onCommit, actor, { settings, at: needs.now() })
  return toCreated(item, { id: actor.workspaceId, updated_at: hash })
}

// Creates a form: its settings are judged before the transaction that inserts it under a new key.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { storeBrand } from '../../accounts/brand/store-brand.ts'
import { listChannelsOfNewForms } from '../../notify/channels/use-for-forms.ts'
import { requireValidRules } from '../rules/check-rules.ts'
import type { CreateFormInput, FormResource } from '../schema.ts'
import {
  FORMS_WRITE,
  type FormNeeds,
  refuseBlockedTargets,
  refuseUnavailable,
  requireChannels,
  toFormColumns,
  toFormResource,
} from './form.ts'
import { getForm } from './get-form.ts'
import { insertForm } from './insert-form.ts'

/** @throws Failure `invalid`, `conflict` */
export async function createForm(
  needs: FormNeeds,
  actor: Actor,
  input: CreateFormInput,
): Promise<FormResource> {
  allow(actor, FORMS_WRITE)
  refuseBlockedTargets(needs, input)
  refuseUnavailable(needs, input)
  await requireValidRules(input.rules)
  const columns = { ...toFormColumns(input), name: input.name }
  return needs.db.write(async (connection) => {
    await requireChannels(connection, actor, input)
    const channelIds = input.channelIds ?? (await listChannelsOfNewForms(connection, actor))
    const at = needs.now()
    const { workspaceId } = actor
    const brand = await storeBrand(connection, { workspaceId, before: null, input: input.brand, at })
    const form = {
      ...columns,
      brand: brand ?? null,
      channel_ids: JSON.stringify(channelIds),
      workspace_id: actor.workspaceId,
      created_at: at,
      updated_at: at,
    }
    const inserted = await insertForm(connection, form)
    await requireRoom(connection, actor.workspaceId, 'forms')
    return toFormResource(needs, await getForm(connection, actor, inserted.form_key))
  })
}

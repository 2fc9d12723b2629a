// Adds a domain to a workspace. It answers nothing before its ownership is proven.

import { randomBase62 } from '../../../lib/crypto/random.ts'
import { Failure, invalid } from '../../../lib/failure.ts'
import { DOMAINS_PER_WORKSPACE, type Plan } from '../../../lib/plan.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { type DomainNeeds, type DomainRow, lockDomains, toDomainResource } from './domain.ts'
import { toDomainColumns } from './domain-columns.ts'
import { parseDomainName } from './domain-name.ts'
import type { CreateDomainInput, DomainResource } from './schema.ts'
import { refuseTakenName } from './taken-name.ts'

const TOKEN_LENGTH = 32

/** @throws Failure `invalid`; `conflict` for a name that is verified elsewhere; `forbidden` beyond the plan */
export async function createDomain(
  needs: DomainNeeds,
  actor: Actor,
  input: CreateDomainInput,
): Promise<DomainResource> {
  allow(actor, 'links:write')
  return needs.db.write(async (connection) =>
    toDomainResource(needs, await createDomainIn({ ...needs, connection }, actor, input), 0),
  )
}

/** Does the same inside an open transaction. @throws as `createDomain` does */
export async function createDomainIn(
  { connection, site, now }: Pick<DomainNeeds, 'site' | 'now'> & { connection: Connection },
  actor: Actor,
  input: CreateDomainInput,
): Promise<DomainRow> {
  allow(actor, 'links:write')
  const parsed = parseDomainName(input.domain, site)
  if ('wrong' in parsed) throw invalid({ domain: parsed.wrong })
  const columns = toDomainColumns(site, input)
  await lockDomains(connection, actor)
  await requirePlan(connection, actor)
  await refuseTakenName(connection, actor, parsed.name)
  const at = now()
  const row = await connection
    .insertInto('domains')
    .values({
      ...columns,
      workspace_id: actor.workspaceId,
      domain: parsed.name,
      token: `towpath-${randomBase62(TOKEN_LENGTH)}`,
      is_primary: 0,
      case_sensitive: Number(input.caseSensitive ?? false),
      created_at: at,
      updated_at: at,
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'domain']).doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) throw new Failure('conflict', `${parsed.name} is a domain of this workspace already`)
  await requireRoom(connection, actor.workspaceId, 'domains')
  const target = { type: 'domain', id: row.id, name: row.domain } as const
  await recordAudit(connection, actor, { action: 'domain.created', target }, at)
  return row
}

/** @throws Failure `forbidden` */
async function requirePlan(connection: Connection, { workspaceId, plan }: Actor): Promise<void> {
  const { n } = await connection
    .selectFrom('domains')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  const most = DOMAINS_PER_WORKSPACE[plan]
  if (Number(n) >= most) throw new Failure('forbidden', explainLimit(plan, most))
}

function explainLimit(plan: Plan, most: number): string {
  const name = plan[0]?.toUpperCase() + plan.slice(1)
  if (most === 0) return `The ${name} plan has no domains of one's own. The Pro plan has one.`
  return `The ${name} plan has at most ${most} domain${most === 1 ? '' : 's'}. Remove one first, or change the plan.`
}

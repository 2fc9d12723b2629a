// The house rules of ARCHITECTURE.md, held by a test and not by memory. That each rule bites is shown in
// support/architecture/find-violations.test.ts.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { BASELINE } from './support/architecture/baseline.ts'
import { findViolations } from './support/architecture/find-violations.ts'
import { ROOT, readCheckout } from './support/architecture/read-checkout.ts'
import type { RuleException } from './support/architecture/rule.ts'
import { listWorkspaceTables } from './support/architecture/workspace-scope.ts'

const OPERATOR = 'for the operator on the command line, who is above workspaces'
const JOB = 'a background job: nobody asks, and it is about every workspace'
const OWN_ACCOUNT =
  'about the person’s own account: who may sign up or in is its own rule, before there is an actor'
const BEFORE_ACTOR = 'part of finding out who asks: the key itself says which workspace'

const createException = (
  rule: RuleException['rule'],
  file: string,
  what: string,
  why: string,
): RuleException => {
  return { rule, file: `server/features/${file}`, what, why }
}

const EXCEPTIONS: RuleException[] = [
  createException(
    'workspace',
    'links/resolve.ts',
    'readLink',
    'a redirect knows only the slug, which says whose link it is',
  ),
  createException(
    'workspace',
    'links/list.ts',
    'listLinks',
    'filtered(), which makes both queries, names the workspace',
  ),
  createException('workspace', 'links/count-clicks.ts', 'addClicks', JOB),
  createException('workspace', 'accounts/auth/sign-up.ts', 'listPendingInvitations', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/sign-up.ts', 'signUp', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/sign-up.ts', '', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/reset-password.ts', 'createResetLink', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/reset-password.ts', 'resetPassword', OWN_ACCOUNT),
  createException('allow', 'accounts/access/session.ts', 'extendSession', OWN_ACCOUNT),
  createException('allow', 'accounts/access/session.ts', 'endSessions', OWN_ACCOUNT),
  createException('allow', 'accounts/access/session.ts', 'pruneSessions', JOB),
  createException('allow', 'accounts/auth/better-auth-adapter.ts', 'createAdapter', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/better-auth-adapter.ts', 'createTableAccess', OWN_ACCOUNT),
  createException('workspace', 'accounts/access/keys.ts', 'findKeyActor', BEFORE_ACTOR),
  createException('workspace', 'accounts/access/keys.ts', 'recordUse', BEFORE_ACTOR),
  createException('workspace', 'accounts/access/keys.ts', 'revokeKey', OPERATOR),
  createException(
    'workspace',
    'accounts/workspaces/invitations.ts',
    'getInvitation',
    'whoever has the link knows only its token, which says whose invitation it is',
  ),
  createException('workspace', 'accounts/workspaces/invitations.ts', 'pruneInvitations', JOB),
  createException('workspace', 'accounts/access/idempotency.ts', 'pruneIdempotencyKeys', JOB),
  createException(
    'allow',
    'accounts/access/idempotency.ts',
    'answerInTransaction',
    'keeps an answer beside the verb, which asks for itself',
  ),
  createException(
    'allow',
    'accounts/access/idempotency.ts',
    'answerOutsideTransaction',
    'keeps an answer beside the verb, which asks for itself',
  ),
  createException('workspace', 'notify/delivery/fair-schedule.ts', 'readChannelsBetween', JOB),
  createException('workspace', 'notify/delivery/claim-deliveries.ts', 'readChannels', JOB),
  createException('workspace', 'notify/delivery/claim-deliveries.ts', 'claimDeliveries', JOB),
  createException('workspace', 'notify/delivery/claim-deliveries.ts', 'failSpent', JOB),
  createException('workspace', 'notify/delivery/claim-deliveries.ts', 'releaseLeases', JOB),
  createException('workspace', 'notify/delivery/delivery-metrics.ts', 'createDeliveryMetrics', JOB),
  createException('workspace', 'notify/delivery/record-attempts.ts', 'lockChannels', JOB),
  createException('workspace', 'notify/delivery/record-attempts.ts', 'recordDelivered', JOB),
  createException('workspace', 'notify/delivery/record-attempts.ts', 'pruneAttempts', JOB),
  createException('allow', 'notify/delivery/claim-deliveries.ts', 'releaseLeases', JOB),
  createException('allow', 'notify/delivery/deliverer.ts', 'openDeliverer', JOB),
  createException('allow', 'notify/delivery/record-attempts.ts', 'pruneAttempts', JOB),
  createException('allow', 'accounts/access/idempotency.ts', 'pruneIdempotencyKeys', JOB),
  createException('allow', 'accounts/workspaces/add-member.ts', 'createUser', OPERATOR),
  createException('allow', 'accounts/workspaces/add-member.ts', 'addMember', OPERATOR),
  createException(
    'allow',
    'accounts/workspaces/create-owned-workspace.ts',
    'createOwnedWorkspace',
    'whoever has signed in may have their own',
  ),
  createException(
    'allow',
    'accounts/workspaces/accept-invitation.ts',
    'acceptInvitation',
    'the invitation is what allows it',
  ),
  createException('allow', 'accounts/workspaces/invitations.ts', 'pruneInvitations', JOB),
  createException('allow', 'accounts/access/keys.ts', 'createKey', OPERATOR),
  createException('allow', 'accounts/access/keys.ts', 'revokeKey', OPERATOR),
  createException('allow', 'accounts/access/keys.ts', 'recordUse', BEFORE_ACTOR),
  createException('allow', 'accounts/access/rate-limiter.ts', 'pruneRateWindows', JOB),
  createException('allow', 'accounts/workspaces/workspaces.ts', 'createWorkspace', OPERATOR),
  createException('allow', 'accounts/workspaces/workspaces.ts', 'changePlan', OPERATOR),
  createException('allow', 'accounts/workspaces/workspaces.ts', 'deleteWorkspace', OPERATOR),
  createException('allow', 'hits/erase-deleted-workspaces.ts', 'eraseDeletedWorkspaces', JOB),
  createException('allow', 'links/count-clicks.ts', 'countClicks', JOB),
  createException('allow', 'links/use-click.ts', 'useClick', 'done by a visitor, who is no actor'),
  createException('allow', 'visitors/salts.ts', 'ensureSalts', JOB),
  createException('allow', 'attribution/assign-clicks.ts', 'assignClicks', JOB),
  createException('allow', 'forms/attempts/attempt-counter.ts', 'store', JOB),
  createException('workspace', 'forms/attempts/attempt-counter.ts', 'store', JOB),
  createException('allow', 'forms/captcha/spent-tokens.ts', 'pruneSpentTokens', JOB),
  createException(
    'workspace',
    'forms/endpoint/form-info.ts',
    'readFormInfo',
    'a page knows only keys, which say whose forms they are',
  ),
  createException(
    'workspace',
    'forms/settings/form-settings.ts',
    'selectByKey',
    'a form’s key is what is public, and says whose form it is',
  ),
  createException(
    'allow',
    'forms/endpoint/store-submission.ts',
    'storeSubmission',
    'done by a visitor, who is no actor',
  ),
  createException(
    'fetch',
    'forms/captcha/turnstile.ts',
    '',
    'the address is the operator’s own setting, which may be a private one',
  ),
]

/** What only means something on the machine where it was written. */
const PRIVATE_WORDS = [
  /(?<![\w.~:/-])\/(?:work|home|root|Users)\/[\w.-]+/,
  /\/tmp\/bash_jobs/,
  /registry\.(?:npmjs|yarnpkg|npmmirror)\.|\b(?:proxy\.golang|pypi)\.org\b/,
]

const findPrivateWords = (text: string) => PRIVATE_WORDS.flatMap((word) => word.exec(text)?.[0] ?? [])

describe('this house', () => {
  test('keeps its rules', async () => {
    const found = findViolations(await readCheckout(), [...EXCEPTIONS, ...BASELINE])
    expect(found.map(({ file, line, rule, message }) => `${file}:${line} ${rule}: ${message}`)).toEqual([])
  })

  test('is read as it is meant: the rules see the tables that belong to workspaces', async () => {
    const tables = await Bun.file(join(ROOT, 'server/storage/database/tables.ts')).text()
    expect(listWorkspaceTables(tables)).toEqual(
      expect.arrayContaining(['api_keys', 'links', 'tags', 'link_tags']),
    )
    expect(listWorkspaceTables(tables)).not.toContain('workspaces')
  })

  test('names no place of the machine it was built on', async () => {
    const slash = '/'
    for (const place of [`cd ${slash}work/main`, `'${slash}home/jo/x'`, `https://registry${'.'}npmjs.org/`]) {
      expect(findPrivateWords(place)).toHaveLength(1)
    }
    expect(findPrivateWords('https://example.com/work/shop and ./work/x')).toEqual([])
    const found = (await readCheckout()).flatMap(({ path, text }) =>
      path === 'package-lock.json' ? [] : findPrivateWords(text).map((word) => `${path}: ${word}`),
    )
    expect(found).toEqual([])
  })
})

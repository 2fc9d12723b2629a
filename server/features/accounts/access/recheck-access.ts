// A later check of the key or the session of a request, for answers that stay open.

import { parseId } from '../../../http/api-route.ts'
import { Failure } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { readBearer } from './api-key.ts'
import { findKeyActor } from './keys.ts'
import { findSession, findUserActor, readSessionToken, toSessionCookieName } from './session.ts'

interface AccessCheck {
  /** The same for all requests with the same key, or the same session and workspace. */
  credential: string
  isValid: () => Promise<boolean>
}

export type AccessRecheck = (headers: Headers) => AccessCheck

export function createAccessRecheck(needs: {
  db: Database
  now: () => number
  origin: string
}): AccessRecheck {
  const cookie = toSessionCookieName(needs.origin)
  return (headers) => {
    const authorization = headers.get('authorization')
    if (authorization !== null) {
      const key = readBearer(authorization) ?? ''
      return {
        credential: `key ${key}`,
        isValid: () => refuseNone(async () => (await findKeyActor(needs, key)) !== undefined),
      }
    }
    const token = readSessionToken(headers.get('cookie'), cookie) ?? ''
    const workspaceId = parseId(headers.get('x-workspace') ?? '')
    return {
      credential: `session ${workspaceId} ${token}`,
      isValid: () =>
        refuseNone(async () => {
          const session = await findSession(needs, token)
          return (
            session !== undefined &&
            (await findUserActor(needs, session.user.userId, workspaceId)) !== undefined
          )
        }),
    }
  }
}

/** A suspended key, person or workspace is a failure. A store that is away throws on. */
async function refuseNone(find: () => Promise<boolean>): Promise<boolean> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof Failure && error.code !== 'unavailable') return false
    throw error
  }
}

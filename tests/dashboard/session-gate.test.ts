// A session that ends: a person's request waits for the dialog, a background request waits without an end, and each is
// sent again once.

import { afterAll, beforeEach, expect, test } from 'bun:test'
import { createWorkspaceApi, type RequestOptions } from '../../dashboard/api/client.ts'
import {
  answerSignIn,
  isSessionHeld,
  leaveSession,
  type SessionState,
  setSessionWatcher,
} from '../../dashboard/api/session-gate.ts'

/** The person's view. */
let shown: (SessionState | number)[] = []
let isKnown = true
let isStillSignedIn = false
setSessionWatcher({
  isKnown: () => isKnown,
  show: (state) => shown.push(state),
  isStillSignedIn: async () => isStillSignedIn,
  untilQuiet: async () => {},
  showWorkspaceGone: (workspaceId) => shown.push(workspaceId),
})
beforeEach(() => {
  answerSignIn(true)
  shown = []
  isKnown = true
  isStillSignedIn = false
})
afterAll(() => {
  answerSignIn(true)
  isKnown = false
})

const api = createWorkspaceApi(7)

/** Refuses each request once. */
function refusingOnce(body: unknown = { error: 'Missing API key' }, status = 401) {
  const sent: string[] = []
  const call: RequestOptions = {
    send: async (url) => {
      sent.push(url)
      const isRefused = sent.filter((each) => each === url).length === 1
      return isRefused ? Response.json(body, { status }) : Response.json({ data: 'done' })
    },
  }
  return { sent, call }
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

test('what the person does opens the dialog, and is sent again once they have signed in', async () => {
  const { sent, call } = refusingOnce()
  const answer = api.post('/tags', {}, call)
  await settle()
  expect([shown, isSessionHeld(), sent.length]).toEqual([['asking'], true, 1])
  // A request in the meantime waits.
  const later = api.post('/links', {}, call)
  await settle()
  expect([shown, sent.length]).toEqual([['asking'], 1])
  answerSignIn(true)
  expect(await answer).toBe('done')
  expect(sent.slice(0, 3)).toEqual(['/v1/tags', '/v1/tags', '/v1/links'])
  await settle()
  answerSignIn(true)
  expect(await later).toBe('done')
})

test('a dialog that is closed says that nothing was saved, and the next try asks again', async () => {
  const { call } = refusingOnce()
  const answer = api.post('/tags', {}, call).catch((error: Error) => error.message)
  await settle()
  answerSignIn(false)
  expect(await answer).toContain('nothing was saved')
  const next = api.post('/tags', {}, call)
  await settle()
  expect(shown).toEqual(['asking', 'declined', 'asking'])
  answerSignIn(true)
  expect(await next).toBe('done')
})

test('what the page asks for by itself waits, whatever becomes of the dialog, until it is not needed any more', async () => {
  const { sent, call } = refusingOnce()
  const leave = new AbortController()
  let ended = false
  const lists = [api.get('/links', call), api.get('/tags', { ...call, signal: leave.signal })]
  const left = lists[1]?.catch(() => 'left')
  void lists[0]?.then(() => {
    ended = true
  })
  await settle()
  expect(shown).toEqual(['asking'])
  answerSignIn(false)
  await settle()
  expect([ended, sent.length]).toEqual([false, 2])
  leave.abort()
  expect(await left).toBe('left')
  answerSignIn(true)
  expect(await lists[0]).toBe('done')
})

test('nobody is asked who is signed in after all, who signs out, or who was never signed in', async () => {
  isStillSignedIn = true
  expect(await api.get('/links', refusingOnce().call)).toBe('done')
  isStillSignedIn = false
  const undo = leaveSession()
  const refuse = () => api.post('/tags', {}, refusingOnce().call).catch(({ status }) => status)
  expect(await refuse()).toBe(401)
  undo()
  isKnown = false
  expect(await refuse()).toBe(401)
  expect(shown).toEqual([])
})

test('a workspace that is gone is announced', async () => {
  const { call } = refusingOnce({ error: 'Workspace not found' }, 404)
  expect(await api.get('/links', call).catch(({ message }) => message)).toContain('no longer open')
  expect(shown).toEqual([7])
})

import { describe, expect, test } from 'bun:test'
import { createSealing, newWebhookSecret, toChannelSecrets } from './secrets.ts'

const SECRETS = {
  url: 'https://hooks.slack.com/services/T0/B0/canary',
  botToken: '123:canary',
  secret: 'whsec_canary',
}
const own = { workspaceId: 1, channelId: 2 }
const { seal, open } = createSealing('the secret of this installation')

describe('sealed secrets', () => {
  test('open for their own channel only, and are unreadable', () => {
    const sealed = seal(SECRETS, own)
    expect(open(sealed, own)).toEqual(SECRETS)
    expect(Buffer.from(sealed.slice(2), 'base64url').toString('latin1')).not.toContain('canary')
    expect(sealed).not.toBe(seal(SECRETS, own))
  })

  test.each([
    ['in another channel', (text: string) => open(text, { ...own, channelId: 3 })],
    ['in another workspace', (text: string) => open(text, { ...own, workspaceId: 2 })],
    [
      'in a channel whose numbers only look the same',
      (text: string) => open(text, { workspaceId: 12, channelId: 2 }),
    ],
    ['with another secret', (text: string) => createSealing('another secret of another one').open(text, own)],
    ['when they were changed', (text: string) => open(`${text.slice(0, -2)}AA`, own)],
    ['when they were cut', (text: string) => open(text.slice(0, 20), own)],
    ['in another version', (text: string) => open(`2.${text.slice(2)}`, own)],
    ['when they are empty', () => open('', own)],
  ])('do not open %s', (_, opening) => {
    const sealed = seal(SECRETS, own)
    expect(() => opening(sealed)).toThrow('The secrets of a channel cannot be read')
  })
})

test('sealed secrets of an earlier release open', () => {
  const sealed =
    '1.ewtl1bTsr_QkTD29bSXRLKp9MrgH2xz1c9RQQVFm3-k_JkfsjqouvJmlzyM0uaHVuI5I5K94To1aOTNBCgF3HT41Uuu9-jiNJrVxCbVetI_YFls'
  const secrets = { url: 'https://hooks.example/x', secret: 'whsec_kept' }
  expect(createSealing('s'.repeat(32)).open(sealed, own)).toEqual(secrets)
})

test('a former secret signs beside the current one until it expires', () => {
  const sealed = { url: 'https://example.com/', secret: 'new', former: { secret: 'old', until: 100 } }
  expect(toChannelSecrets(sealed, 99).secrets).toEqual(['new', 'old'])
  expect(toChannelSecrets(sealed, 100).secrets).toEqual(['new'])
  expect(toChannelSecrets({ url: 'https://example.com/' }, 0).secrets).toBeUndefined()
})

test('a signing secret is 32 random bytes in the format of Standard Webhooks', () => {
  const [one, two] = [newWebhookSecret(), newWebhookSecret()]
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(Buffer.from(one.slice(6), 'base64')).toHaveLength(32)
  expect(one).not.toBe(two)
})

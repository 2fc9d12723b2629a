import { describe, expect, test } from 'bun:test'
import { createAddressHasher, isAnswerable, toMailbox } from './mailbox.ts'

describe('mailboxes', () => {
  test('have one key for upper and lower case, and for all tags', () => {
    const same = ['ada@example.com', 'Ada@Example.COM', 'ada+news@example.com', 'ADA+a+b@example.com']
    expect(new Set(same.map(toMailbox))).toEqual(new Set(['ada@example.com']))
    expect(toMailbox('+ada@example.com')).toBe('+ada@example.com')
    const hash = createAddressHasher('a secret')
    expect(hash(1, 'a.da+x@gmail.com')).toBe(hash(1, 'ada@googlemail.com'))
    expect(hash(1, 'a.da@example.com')).not.toBe(hash(1, 'ada@example.com'))
    expect(hash(1, 'ada@example.com')).not.toBe(hash(2, 'ada@example.com'))
    expect(hash(1, 'ada@example.com')).not.toBe(createAddressHasher('another')(1, 'ada@example.com'))
    expect(hash(1, 'ada@example.com')).toMatch(/^[\w-]{32}$/)
  })

  test.each([
    'noreply@example.com',
    'No-Reply@example.com',
    'no_reply+x@example.com',
    'no.reply.sales@example.com',
    'donotreply@example.com',
    'do-not-reply@example.com',
    'MAILER-DAEMON@example.com',
    'postmaster@example.com',
    'bounce@example.com',
    'bounces+123=ada@example.com',
    'bounces-77@example.com',
    'prvs=0123=ada@example.com',
    'srs0=ab=cd=example.org=ada@example.com',
    'owner-list@example.com',
    'list-request@example.com',
    'list-bounces@example.com',
    'auto-reply@example.com',
    'autoresponder@example.com',
    'victim%inner.example@example.com',
    'inner.example!victim@example.com',
    'ada@127.0.0.1',
    '.ada@example.com',
    'ada.@example.com',
    'a..da@example.com',
  ])('%s gets no reply', (email) => expect(isAnswerable(email)).toBe(false))

  test.each([
    'ada@example.com',
    'ada+shop@example.com',
    'noah@example.com',
    'norbert.rootes@example.com',
    'auto@example.com',
    'info@example.com',
    'sales-team@example.com',
    "o'neil@example.com",
    'ada@xn--bcher-kva.example',
  ])('%s gets a reply', (email) => expect(isAnswerable(email)).toBe(true))
})

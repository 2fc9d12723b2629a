import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkUrl, toServerName, toShortUrl, URL_MAX } from './web-url.ts'

const SHORT_HOSTS = ['go.example', 'localhost:3000', '[::1]:3000']
const RULE = {
  schemes: ['myapp:', 'tel:'],
  isShortHost: (host: string) => SHORT_HOSTS.includes(toServerName(host)),
}

const NOT_WEB = 'must be an http or https URL (or myapp:, tel:)'
const CREDENTIALS = 'must not contain a user name or password'
const OWN = 'must not point to a short domain of this server'
const LONG = 'must be at most 8192 characters'

describe('the host of a URL', () => {
  test.each([
    'https://https://example.com/x',
    'https://http://example.com/x',
    'http:https://example.com',
    'https://www.https://example.com',
    'https://example,com/',
    'https://example..com/',
    'https://.example.com/',
    'https://example.com../',
    'https://./',
    `https://${'a'.repeat(64)}.example/`,
    'https://{host}/',
    'https://%7Bhost%7D/',
    'https://*/',
    'https://*.example.com/',
    'https://-example.com/',
    'https://example-.com/',
    'https://a.-b.example/',
    'https://exa"mple.com/',
    "https://'example.com'/",
    'https://$host/',
    'https://example.com;/',
    'https://a&b.example/',
    'https://(example.com)/',
    'https://!/',
    'https://~/',
    'https://a=b/',
  ])('cannot be that of %s', (url) => {
    expect(checkUrl(url, RULE)).toHaveProperty('wrong')
  })

  test.each([
    'https://example.com./',
    'https://my_site.example/',
    'https://_dmarc.example/',
    'https://intranet/x',
    'https://http/',
    'https://https.example//x',
    'http://192.0.2.1/',
    'http://[2001:db8::1]/',
    'https://xn--mnchen-3ya.example/',
    'https://a--b.example/',
    `https://${'a'.repeat(63)}.example/`,
    'https://xn--i-7iq.ws/',
    'https://9.example/',
  ])('can be that of %s', (url) => {
    expect(checkUrl(url, RULE)).toEqual({ href: url })
  })
})

describe('a URL that we send browsers to', () => {
  test.each([
    ['javascript:alert(1)', NOT_WEB],
    ['JaVaScRiPt:alert(1)', NOT_WEB],
    [' javascript:alert(1)', NOT_WEB],
    ['java\nscript:alert(1)', NOT_WEB],
    ['java\tscript:alert(1)', NOT_WEB],
    ['\u0001javascript:alert(1)', NOT_WEB],
    ['javascript://example.com/%0aalert(1)', NOT_WEB],
    ['data:text/html,<script>alert(1)</script>', NOT_WEB],
    ['vbscript:msgbox(1)', NOT_WEB],
    ['file:///etc/passwd', NOT_WEB],
    ['blob:https://example.com/1', NOT_WEB],
    ['view-source:https://example.com/', NOT_WEB],
    ['ftp://example.com/', NOT_WEB],
    ['ws://example.com/', NOT_WEB],
    ['other:thing', NOT_WEB],
    ['//evil.example/', NOT_WEB],
    ['\\\\evil.example\\', NOT_WEB],
    ['/path', NOT_WEB],
    ['example.com', NOT_WEB],
    ['http://', NOT_WEB],
    ['https://exa mple.com/', NOT_WEB],
    ['https://example.com:99999/', NOT_WEB],
    ['', NOT_WEB],
    ['https://user@example.com/', CREDENTIALS],
    ['https://user:word@example.com/', CREDENTIALS],
    ['https://:word@example.com/', CREDENTIALS],
    ['https://go.example@evil.example/', CREDENTIALS],
    ['https://evil.example@go.example/', CREDENTIALS],
    ['https://evil.example\t@go.example/', CREDENTIALS],
    ['myapp://user:word@open/', CREDENTIALS],
    ['https://go.example/abc', OWN],
    ['http://go.example/abc', OWN],
    ['HTTPS://GO.EXAMPLE/abc', OWN],
    ['https://go.example./abc', OWN],
    ['https://go.example:443/abc', OWN],
    ['http://go.example:80/abc', OWN],
    ['http://go.example:443/abc', OWN],
    ['https://go.example.:80/abc', OWN],
    ['https:go.example/abc', OWN],
    ['https:/go.example/abc', OWN],
    ['https:\\\\go.example\\abc', OWN],
    ['https:///go.example/abc', OWN],
    ['https://go\n.exa\tmple/abc', OWN],
    ['https://go%2eexample/abc', OWN],
    ['https://ｇｏ。ｅｘａｍｐｌｅ/abc', OWN],
    ['https://@go.example/abc', OWN],
    ['https://go.example#@evil.example/', OWN],
    ['https://go.example?@evil.example/', OWN],
    ['https://go.example\\@evil.example/', OWN],
    ['http://localhost:3000/abc', OWN],
    ['http://LOCALHOST.:3000/abc', OWN],
    ['http://[::1]:3000/abc', OWN],
    ['http://[0:0:0:0:0:0:0:1]:3000/abc', OWN],
    [`https://example.com/${'a'.repeat(URL_MAX)}`, LONG],
    // Short as typed, too long once it is encoded and stored.
    [`https://example.com/${'ж'.repeat(URL_MAX / 3)}`, LONG],
  ])('%p is refused', (text, wrong) => {
    expect(checkUrl(text, RULE)).toEqual({ wrong })
  })

  test.each([
    ['https://example.com', 'https://example.com/'],
    ['http://localhost:8080/x', 'http://localhost:8080/x'],
    ['http://[2001:db8::1]/x', 'http://[2001:db8::1]/x'],
    ['https://go.example.evil.example/', 'https://go.example.evil.example/'],
    ['https://notgo.example/', 'https://notgo.example/'],
    ['https://go.example:8443/', 'https://go.example:8443/'],
    ['https://go.example:4430/', 'https://go.example:4430/'],
    ['https://evil.example/#go.example', 'https://evil.example/#go.example'],
    ['  https://example.com/a\n', 'https://example.com/a'],
    ['https:example.com/a', 'https://example.com/a'],
    ['https://example.com/a%20b?q=a+b%20c&x=%zz#f', 'https://example.com/a%20b?q=a+b%20c&x=%zz#f'],
    ['https://münchen.example/ä', 'https://xn--mnchen-3ya.example/%C3%A4'],
    ['myapp://open/thing?id=1', 'myapp://open/thing?id=1'],
    ['MyApp:thing', 'myapp:thing'],
    ['tel:+491234', 'tel:+491234'],
    [`https://example.com/${'a'.repeat(URL_MAX - 20)}`, `https://example.com/${'a'.repeat(URL_MAX - 20)}`],
  ])('%p is stored as %p', (text, href) => {
    expect(checkUrl(text, RULE)).toEqual({ href })
  })

  test('other schemes are refused where the operator allows none, and the message names none', () => {
    const none = { schemes: [] }
    expect(checkUrl('myapp:thing', none)).toEqual({ wrong: 'must be an http or https URL' })
  })

  test('recognizes an own host with a default port', () => {
    for (const own of ['go.example', 'GO.example', 'go.example:80', 'go.example.'])
      expect(toServerName(own)).toBe('go.example')
    expect(toServerName('[::ffff:7f00:1]:3000')).toBe('127.0.0.1:3000')
  })

  test("the short URL of a workspace's domain has the scheme and port of an origin without https", () => {
    const on = (origin: string, domain = 'acme.link') => toShortUrl({ origin }, { domain, slug: 'a/ü' })
    expect(on('https://go.example:8443')).toBe('https://acme.link/a/%C3%BC')
    expect(on('http://localhost:3000')).toBe('http://acme.link:3000/a/%C3%BC')
    expect(on('http://go.example')).toBe('http://acme.link/a/%C3%BC')
    expect(on('http://localhost:3000', '')).toBe('http://localhost:3000/a/%C3%BC')
  })

  test('an accepted URL stays the same in a second check', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.webUrl({ withFragments: true, withQueryParameters: true }), fc.string()),
        (text) => {
          const checked = checkUrl(text, RULE)
          if ('href' in checked) expect(checkUrl(checked.href, RULE)).toEqual(checked)
        },
      ),
    )
  })
})

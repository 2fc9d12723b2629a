// Test data: a notice and its destination, and hostile texts that people put into forms.

import { type Network, parseNetwork } from '../../../lib/ip-network.ts'
import type { ChannelDestination, DeliveryResult, Notice, SendNeeds } from './contract.ts'

export const SUBMISSION_URL = 'https://go.example/app/1/inbox?open=42'

/** When a notice is sent. */
export const NOTICE_AT = Date.UTC(2026, 9, 2, 12)

export const createNotice = (over: Partial<Notice> = {}): Notice => ({
  event: 'submission.created',
  messageId: 'msg_0123456789abcdefghijAB',
  at: NOTICE_AT,
  form: { formKey: 'contact', name: 'Contact' },
  submissionId: 42,
  number: 12,
  createdAt: Date.UTC(2026, 9, 1, 12),
  fields: new Map([
    ['name', 'Ada Lovelace'],
    ['10', 'ten'],
    ['email', 'ada@example.org'],
    ['message', 'Hello,\nplease call me.'],
  ]),
  email: 'ada@example.org',
  attribution: 'newsletter / spring · go.example/abc · Berlin, DE · iPhone',
  url: SUBMISSION_URL,
  submissionJson: '{"id":42,"fields":{"b":"1","10":"2"}}',
  ...over,
})

export const createDestination = (over: Partial<ChannelDestination> = {}): ChannelDestination => ({
  name: 'Sales',
  recipients: [],
  chatId: null,
  secrets: {},
  ...over,
})

export const SEND_NEEDS: SendNeeds = {
  allow: [parseNetwork('127.0.0.1') as Network],
  origin: 'https://go.example',
  timeoutMs: 5000,
}

/** Adds the absent properties as undefined, so that a test can expect them to be absent. */
export const toCompleteResult = (result: DeliveryResult) => ({
  permanent: undefined,
  retryAfterMs: undefined,
  ...result,
})

/** For field names and field values. */
export const INJECTIONS = [
  '@everyone',
  '@here <@&1234> <@!5678> <#9012>',
  '<!channel> <!here> <!subteam^S0123>',
  '<@U012AB3CD>',
  '<https://evil.example|Open in Towpath>',
  '[Open in Towpath](https://evil.example/login)',
  '*bold* _italic_ ~struck~ `code` ||spoiler|| __under__ **strong**',
  '# heading\n## smaller\n- list\n1. numbered\n> quote\n>>> all\n-# small',
  '```\nfenced\n```',
  '\\*already escaped\\* \\',
  ':smile: <:emoji:1234> <t:0:R> </command:1>',
  '<script>alert(1)</script>',
  '<img src="https://evil.example/pixel.gif" onerror=alert(1)>',
  '"><svg/onload=alert(1)>',
  "' onmouseover='alert(1)",
  '<b>bold</b> <a href="https://evil.example">here</a> <tg-spoiler>x</tg-spoiler>',
  '</code></pre></b>&lt;b&gt;&#60;i&#62;&amp;amp;',
  '<at>Everyone</at>',
  '{{fields.email}} #{7*7} {% raw %} %s %n',
  '=HYPERLINK("https://evil.example","x")',
  '+1 -1 =1+1 @SUM(A1)',
  '\tlead by tab',
  'a\r\nBcc: victim@example.org\r\nSubject: other\r\n\r\n<h1>body</h1>',
  'a\nReply-To: evil@example.org',
  '\r\n.\r\nMAIL FROM:<evil@example.org>',
  'email:\n  boss@example.org',
  'https://evil.example/a?b=c&d=e',
  'evil.example www.evil.example mailto:evil@example.org tg://resolve?domain=evil javascript:alert(1)',
  '@evil /start #hash $USD /cmd@bot',
  'moc.live//:sptth\u202e reversed \u202d over \u2066 isolate \u2069',
  '\u200f\u200eמרחב \u061cعربي',
  'zero\u200bwidth\u2060join\ufeffer',
  '\0nul\x07bell\x1b[31mred\x1b[0m\x9b31m',
  'line\u2028separator\u2029paragraph\vtab\fpage\x85next',
  '👩‍👩‍👧‍👦 🇩🇪 é ﷽ Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!',
  '__proto__',
  'constructor',
  ' ',
  '',
]

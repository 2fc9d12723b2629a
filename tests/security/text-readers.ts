// The functions that read texts of strangers, and hostile texts for them: the table of text-growth.test.ts.

import { isPersonalPassword } from '../../server/features/accounts/abuse/personal-words.ts'
import { readSessionToken } from '../../server/features/accounts/access/session.ts'
import { readMoment } from '../../server/features/analytics/timeline.ts'
import { parseRobots } from '../../server/features/destinations/robots-rules.ts'
import { findBodyCharset, readText } from '../../server/features/forms/endpoint/body-charset.ts'
import { parseFields, validateFields } from '../../server/features/forms/endpoint/fields.ts'
import { createMultipartReader, readParts } from '../../server/features/forms/endpoint/multipart.ts'
import { readPartHead } from '../../server/features/forms/endpoint/part-head.ts'
import { readJsonFields, readJsonMembers } from '../../server/features/forms/endpoint/read-body.ts'
import { successTarget } from '../../server/features/forms/endpoint/redirect-target.ts'
import { resolveUrl } from '../../server/features/forms/page-check/check-action.ts'
import { checkPage } from '../../server/features/forms/page-check/check-page.ts'
import { matchesSource } from '../../server/features/forms/page-check/content-policy.ts'
import { formatElement } from '../../server/features/forms/page-check/finding.ts'
import { toReferrerReach } from '../../server/features/forms/page-check/referrer-policy.ts'
import { cutCharacters, toInertText } from '../../server/features/forms/replies/inert-text.ts'
import { renderReply } from '../../server/features/forms/replies/render-reply.ts'
import { createCheck, isOfType, listAddresses } from '../../server/features/forms/rules/check-fields.ts'
import { compilePattern } from '../../server/features/forms/rules/field-pattern.ts'
import { fillText } from '../../server/features/forms/rules/languages.ts'
import { chooseLanguage } from '../../server/features/forms/rules/sender-language.ts'
import { checkRules } from '../../server/features/forms/spam/check-rules.ts'
import { readFeatures } from '../../server/features/forms/spam/features.ts'
import { findLinks } from '../../server/features/forms/spam/find-links.ts'
import { readByteRange } from '../../server/features/forms/uploads/file-response.ts'
import { toSpooledQuery } from '../../server/features/hits/spool/raw-hit.ts'
import { findImageType } from '../../server/features/links/cards/fetch-card-image.ts'
import { readCard } from '../../server/features/links/cards/read-card.ts'
import { parseDomainName } from '../../server/features/links/domains/domain-name.ts'
import { replaceEmoji } from '../../server/features/links/names/emoji.ts'
import { toStoredDomain } from '../../server/features/links/names/link-domain.ts'
import { isReserved, toReservedSlugs } from '../../server/features/links/slug.ts'
import { readRedirect } from '../../server/features/notify/channels/redirect-answer.ts'
import {
  escapeEntities,
  fitFields,
  sumCost,
  truncateText,
} from '../../server/features/notify/channels/safe-text.ts'
import { maskSecrets, sanitizeResponse } from '../../server/features/notify/channels/service-response.ts'
import { findTemplateMistake } from '../../server/features/notify/templates/parse-template.ts'
import { readDays } from '../../server/features/reconcile/read-days.ts'
import { toDomainTarget } from '../../server/features/redirect/domain-target.ts'
import { readPreferredLanguage } from '../../server/features/redirect/rule-visitor.ts'
import { createPageViewReader } from '../../server/features/tracking/page-view.ts'
import { parsePageViewBody } from '../../server/features/tracking/page-view-body.ts'
import { CsvReader, nameColumns } from '../../server/features/transfer/files/csv-reader.ts'
import { recognizeEncoding } from '../../server/features/transfer/files/encoding.ts'
import { createColumnLookup } from '../../server/features/transfer/files/fields.ts'
import { JsonReader } from '../../server/features/transfer/files/json-reader.ts'
import { readTime } from '../../server/features/transfer/files/read-time.ts'
import { SqlReader } from '../../server/features/transfer/files/sql-reader.ts'
import {
  findSqlEnd,
  readSqlLiteral,
  readSqlName,
  skipSqlBlanks,
} from '../../server/features/transfer/files/sql-tokens.ts'
import { suggestMapping } from '../../server/features/transfer/sources/csv-mapping.ts'
import { readSubmission } from '../../server/features/transfer/submissions/read-submission.ts'
import { extractAdClickIds } from '../../server/features/visitors/ad-click-ids.ts'
import { extractUtmParameters } from '../../server/features/visitors/campaign.ts'
import { extractKeptParams } from '../../server/features/visitors/kept-params.ts'
import { isOwnHost, parseReferrer } from '../../server/features/visitors/referrer.ts'
import { isBelowHost } from '../../server/features/visitors/referrer-spam.ts'
import { readClientAddress } from '../../server/http/client-address.ts'
import { readRequestHost } from '../../server/http/request-host.ts'
import { cleanText, cutText, trimBoth, trimEnd } from '../../server/lib/clean-text.ts'
import { decodeCursor } from '../../server/lib/cursor.ts'
import {
  decodePercents,
  decodeStrictly,
  decodeText,
  recognizeUnicode,
} from '../../server/lib/formats/charset.ts'
import { scanJson } from '../../server/lib/formats/json-limits.ts'
import { readHtml } from '../../server/lib/html/read-html.ts'
import { normalizeUnicode } from '../../server/lib/text.ts'
import { appendQuery, mergeQuery, setParameters } from '../../server/lib/url-query.ts'
import { checkUrl } from '../../server/lib/web-url.ts'
import { readClasses, readFilter } from '../../server/storage/filter-grammar.ts'

/** @returns what it read; a promise is waited for */
export type TextReader = (text: string) => unknown

/** Parts that parsers count, skip, look for an end of, or try again: repeated, they are the worst input of most. */
export const UNITS = [
  '\u0301\u0316',
  '\uff9e\u0301',
  '%CC%81%CC%96',
  'á',
  '\u1100\u1161\u11a8',
  '\ufdfa',
  'İ',
  'Σ',
  'ß',
  'क्षि',
  '👩‍',
  '🇩🇪',
  '*\ufe0f\u20e3',
  '\ufe0f',
  '\u200d',
  '\u202e',
  '漢',
  '\ud800',
  '\0',
  'a',
  'aA',
  '1',
  ' ',
  ' a',
  '\t',
  '\n',
  '\r\n',
  '\u00a0',
  '.',
  '..',
  'a.',
  'a.b@',
  '-',
  'a-',
  '_',
  '/',
  'a/',
  '../',
  '/./',
  '//',
  '\\',
  '%',
  '%41',
  '%2f',
  '"',
  '""',
  'b"',
  '",',
  'a,',
  ', ',
  ',"',
  "'",
  "''",
  "\\'",
  ';',
  'a;',
  '; ',
  'a=',
  '=',
  'a=b&',
  '&',
  '&amp;',
  '&#',
  '?',
  '#',
  '@',
  'a@',
  ':',
  '1:',
  '::',
  '1.',
  '+',
  '*',
  '**',
  '$',
  '`',
  '(',
  '((',
  ')',
  '[',
  '[[',
  '](',
  '[url=',
  '{',
  '{{',
  '{{a}}',
  '}',
  '{"a":',
  '[1,',
  '"\\',
  '\\u005f',
  '<',
  '<a ',
  '<a href="',
  '</',
  '<!--',
  '<p>',
  '<form><input name=a>',
  '<script>',
  '<meta content="',
  'http://',
  'https://a.b/',
  'www.',
  'xn--',
  'data:',
  'javascript:',
  'utm_source=a&',
  'gclid=',
  'q=0.5,',
  'en,',
  'bytes=0-1,',
  '0x',
  '--\n',
  '-- ',
  '/*',
  '/**/',
  '*/',
  'INSERT ',
  'INSERT INTO a VALUES (1),(2);\n',
  'CREATE TABLE a (b int);\n',
  'a,a\n',
  'a\t',
  '1/2/2025 ',
  'Mozilla/5.0 ',
  'bot/',
  'charset=',
  'name="',
  '--a\r\n',
  'tp_',
  'key=a&',
  'sale-',
  `${'x'.repeat(63)}.`,
] as const

const PAGE = new URL('https://page.example/contact')
const bytes = (text: string) => Buffer.from(text)
const SITE = {
  isOwnHost: () => false,
  isBlocked: () => false,
  isShortHost: () => false,
  domain: 'go.example',
  reserved: toReservedSlugs([]),
  reservedOnDomains: toReservedSlugs([]),
}

const SPAM = {
  words: ['casino', 'crypto*', 'a*b'],
  emails: ['*@spam.example'],
  domains: ['*.test'],
  maxLinks: 1,
  learn: false,
}
const TARGET = {
  origin: 'https://go.example',
  formKey: 'abc',
  redirectUrl: null,
  nextHosts: ['page.example'],
  afterSubmit: 'referer' as const,
  pageUrl: PAGE.href,
}
const fieldsOf = (text: string) => new Map([['message', text]])
const entriesOf = (text: string) => [{ name: text.slice(0, 200), value: text }]
const partsOf = (text: string) => text.split(/[^a-z0-9]+/i)

function writeAll(reader: { write(text: string): void; end(): void }, text: string): void {
  for (let at = 0; at < text.length; at += 1024) reader.write(text.slice(at, at + 1024))
  reader.end()
}

/** Called with the text and more, or with what the text was sent in. */
const WITH_MORE: Record<string, TextReader> = {
  'features/accounts/access/session.ts readSessionToken': (text) => readSessionToken(text, 'towpath_session'),
  'features/accounts/abuse/personal-words.ts isPersonalPassword': (text) =>
    isPersonalPassword(text, { email: 'ada@example.com', name: 'Ada', origin: 'https://go.example' }),
  'storage/filter-grammar.ts readFilter': (text) => [
    readFilter('country', [text]),
    readFilter('source', [text]),
  ],
  'storage/filter-grammar.ts readClasses': (text) => readClasses([text]),
  'features/analytics/timeline.ts readMoment': (text) => readMoment(text, 'Europe/Berlin'),
  'features/forms/endpoint/fields.ts parseFields': (text) =>
    validateFields(parseFields([...entriesOf(text), { name: 'email', value: text }], { json: false }), [
      'message',
    ]),
  'features/forms/endpoint/read-body.ts readJsonFields': (text) =>
    readJsonFields(JSON.stringify({ fields: { a: text } })),
  'features/forms/endpoint/read-body.ts readJsonMembers': (text) => [
    ...readJsonMembers(JSON.stringify({ a: text, b: partsOf(text) })),
  ],
  'features/forms/endpoint/multipart.ts readParts': (text) => [
    ...readParts(
      bytes(`--a\r\nContent-Disposition: form-data; name="a"\r\n\r\n${text}\r\n--a--\r\n`),
      'multipart/form-data; boundary=a',
    ),
  ],
  'features/forms/endpoint/multipart.ts createMultipartReader': (text) =>
    createMultipartReader(`multipart/form-data; boundary=${text}`),
  'a header of a part of a form': (text) => [
    ...readParts(
      bytes(`--a\r\nContent-Disposition: form-data; name="${text.slice(0, 8000)}"\r\n\r\n\r\n--a--\r\n`),
      'multipart/form-data; boundary=a',
    ),
  ],
  'lib/formats/charset.ts decodeText': (text) => decodeText(bytes(text), 'gb18030'),
  'lib/formats/charset.ts recognizeUnicode': (text) => recognizeUnicode(bytes(text)),
  'lib/formats/charset.ts decodeStrictly': (text) => decodeStrictly(bytes(text), 'shift_jis'),
  'lib/formats/charset.ts decodePercents': (text) => decodePercents(bytes(text), { plus: true }),
  'features/forms/endpoint/body-charset.ts findBodyCharset': (text) =>
    findBodyCharset(`text/plain; charset=${text}`, text, [bytes(text)]),
  'features/forms/endpoint/body-charset.ts readText': (text) =>
    readText(bytes(text), { encoding: 'windows-1252', isLegacy: true }),
  'features/forms/endpoint/part-head.ts readPartHead': (text) => [
    readPartHead(`Content-Disposition: form-data; name=${text.slice(0, 8000)}`),
    readPartHead(`Content-Disposition: form-data; name="a"; filename="=?utf-8?b?${text.slice(0, 8000)}"`),
    readPartHead(`Content-Disposition: form-data; name="a"; filename*=utf-8''${text.slice(0, 8000)}`),
  ],
  'features/forms/endpoint/redirect-target.ts successTarget: _next': (text) =>
    successTarget({ ...TARGET, referer: PAGE.href, next: text }),
  'features/forms/endpoint/redirect-target.ts successTarget: Referer': (text) =>
    successTarget({ ...TARGET, referer: text, next: '/thanks' }),
  'features/forms/page-check/check-action.ts resolveUrl': (text) => resolveUrl(text, PAGE),
  'features/forms/page-check/check-page.ts checkPage': (text) =>
    checkPage({
      form: {
        formKey: 'abcdefghij',
        requiredFields: ['email'],
        redirectUrl: null,
        captcha: false,
        allowedOrigins: [],
        afterSubmit: 'referer',
        onError: 'referer',
        pageUrl: null,
        nextHosts: [],
        rules: {},
        uploads: null,
      } as never,
      origin: 'https://go.example',
      publicId: 'ws',
      turnstile: false,
      html: text,
      pageUrl: PAGE.href,
      headers: new Headers({ 'Content-Security-Policy': 'default-src *' }),
    }),
  'features/forms/page-check/content-policy.ts matchesSource': (text) => matchesSource(text, PAGE, PAGE),
  'features/forms/page-check/finding.ts formatElement': (text) => formatElement('a', { href: text }),
  'features/forms/page-check/referrer-policy.ts toReferrerReach': (text) => toReferrerReach(text, PAGE, PAGE),
  'features/forms/replies/inert-text.ts cutCharacters': (text) => cutCharacters(text, 100),
  'features/forms/replies/inert-text.ts toInertText': (text) => toInertText(text, 100),
  'features/forms/replies/render-reply.ts renderReply: template': (text) =>
    renderReply(
      { subject: text, text },
      { fields: fieldsOf('a'), email: 'a@example.com', stopUrl: PAGE.href },
    ),
  'features/forms/replies/render-reply.ts renderReply: values': (text) =>
    renderReply(
      { subject: '{{message}}', text: 'Dear {{message}}, {{message}}' },
      { fields: fieldsOf(text), email: 'a@example.com', stopUrl: PAGE.href },
    ),
  'features/forms/rules/check-fields.ts createCheck': (text) =>
    createCheck(
      { type: 'url', minLength: 1, maxLength: 60_000, oneOf: ['a', 'b'] },
      { left: 1_000_000 },
    )(text),
  'features/forms/rules/check-fields.ts isOfType': (text) =>
    (['email', 'url', 'tel', 'number', 'date'] as const).map((type) => isOfType(type, text)),
  // A pattern has at most 500 characters.
  'features/forms/rules/field-pattern.ts compilePattern': (text) => compilePattern(text.slice(0, 500)),
  'features/forms/rules/languages.ts fillText': (text) =>
    fillText('At most {limit} of {name}', { limit: text, name: text }),
  'features/forms/rules/sender-language.ts chooseLanguage': (text) =>
    chooseLanguage({ lang: text, acceptLanguage: text }, ['de', 'pt-BR']),
  'features/forms/spam/check-rules.ts checkRules': (text) => checkRules({ spam: SPAM }, fieldsOf(text)),
  'features/forms/spam/features.ts readFeatures': (text) =>
    readFeatures({ fields: fieldsOf(text), pageSeconds: 3 }),
  'features/forms/spam/find-links.ts findLinks': (text) => [...findLinks(text)],
  'features/forms/uploads/file-response.ts readByteRange': (text) => readByteRange(text, 1000),
  'features/destinations/robots-rules.ts parseRobots': (text) => {
    parseRobots(text, 'towpath').allows(text)
    parseRobots(`User-agent: *\nDisallow: ${text}`, 'towpath').allows(text)
  },
  'features/reconcile/read-days.ts readDays': (text) => {
    for (const csv of [text, `# x\n${text}`, `date,clicks\n${text},${text}`]) {
      try {
        readDays(csv, {})
      } catch {
        // Most of them are no tables.
      }
    }
  },
  'features/links/cards/fetch-card-image.ts findImageType': (text) => findImageType(bytes(text)),
  'features/links/cards/read-card.ts readCard': (text) => readCard(text),
  'features/links/domains/domain-name.ts parseDomainName': (text) => parseDomainName(text, SITE),
  'features/links/names/emoji.ts replaceEmoji': (text) => replaceEmoji(text, 'x'),
  'features/links/names/link-domain.ts toStoredDomain': (text) => toStoredDomain(SITE, text),
  'features/links/slug.ts isReserved': (text) => isReserved(SITE, '', text),
  'features/notify/channels/safe-text.ts escapeEntities': (text) => escapeEntities(text, /[<>&]/g),
  'features/notify/channels/safe-text.ts fitFields': (text) =>
    fitFields(fieldsOf(text), { fields: 10, name: 10, value: 1000, total: 5000, each: 2 }),
  'features/notify/channels/redirect-answer.ts readRedirect': (text) =>
    readRedirect('https://script.google.com/', { status: 302, headers: { get: () => text } }),
  'features/notify/channels/safe-text.ts sumCost': (text) => sumCost(text, (character) => character.length),
  'features/notify/channels/safe-text.ts truncateText': (text) => truncateText(text, 1000),
  'features/notify/channels/service-response.ts maskSecrets': (text) => maskSecrets(text, ['a.b', 'secret']),
  'features/notify/channels/service-response.ts sanitizeResponse': (text) =>
    sanitizeResponse(text, ['a.b', 'secret']),
  'features/notify/templates/parse-template.ts findTemplateMistake': (text) =>
    findTemplateMistake(text, 'text'),
  'features/redirect/rule-visitor.ts readPreferredLanguage': readPreferredLanguage,
  'features/redirect/domain-target.ts toDomainTarget': (text) =>
    toDomainTarget(SITE, 'https://example.com/{slug}', text),
  'features/tracking/page-view.ts createPageViewReader': (text) =>
    createPageViewReader(new Set())({ at: 0, url: text, referrer: text }, () => 1),
  'a page view with a long query': (text) =>
    createPageViewReader(new Set())(
      { at: 0, url: `https://page.example/?${text}`, referrer: `https://other.example/${text}` },
      () => 1,
    ),
  // A body has at most 8 KiB.
  'features/tracking/page-view-body.ts parsePageViewBody': (text) => parsePageViewBody(text.slice(0, 8192)),
  'features/transfer/files/csv-reader.ts CsvReader': (text) =>
    writeAll(new CsvReader({ delimiter: ',', lineEnd: '\n' }), text),
  'features/transfer/files/csv-reader.ts nameColumns': (text) => nameColumns(partsOf(text).slice(0, 1000)),
  'features/transfer/files/encoding.ts recognizeEncoding': (text) => recognizeEncoding(bytes(text), true),
  'features/transfer/files/fields.ts createColumnLookup': (text) =>
    createColumnLookup(partsOf(text).slice(0, 1000)),
  'features/transfer/files/json-reader.ts JsonReader': (text) =>
    writeAll(new JsonReader(null), `[{"a":${text}`),
  'features/transfer/submissions/read-submission.ts readSubmission': (text) => {
    const fields = new Map<string, unknown>([
      ['page_url', text],
      ['utm_source', text],
      ['email', text],
      [text, text],
    ])
    readSubmission({ row: 1, table: null, fields }, { dateOrder: null, timeZone: 'UTC' })
  },
  'features/transfer/files/read-time.ts readTime': (text) =>
    readTime(text, { dateOrder: null, timeZone: 'UTC' }),
  'features/transfer/files/sql-reader.ts SqlReader': (text) =>
    writeAll(new SqlReader(() => true), `CREATE TABLE a (b int);\nINSERT INTO a VALUES (1,${text}`),
  'features/transfer/files/sql-tokens.ts findSqlEnd': (text) => findSqlEnd(text, 0, '', true),
  'features/transfer/files/sql-tokens.ts readSqlLiteral': (text) => readSqlLiteral(text, 0),
  'features/transfer/files/sql-tokens.ts readSqlName': (text) => readSqlName(text, 0, true),
  'features/transfer/files/sql-tokens.ts skipSqlBlanks': (text) => skipSqlBlanks(text, 0, true),
  'features/transfer/sources/csv-mapping.ts suggestMapping': (text) => suggestMapping([text, 'url']),
  'features/visitors/ad-click-ids.ts extractAdClickIds': extractAdClickIds,
  'features/visitors/campaign.ts extractUtmParameters': (text) => extractUtmParameters(text, text),
  'features/visitors/referrer.ts isOwnHost': (text) => isOwnHost(text, new Set(['go.example'])),
  'features/visitors/referrer.ts parseReferrer': (text) => parseReferrer(text, new Set(['go.example'])),
  'http/client-address.ts readClientAddress': (text) => readClientAddress('127.0.0.1', text, []),
  'http/request-host.ts readRequestHost': (text) =>
    readRequestHost({ get: () => text }, () => '127.0.0.1', []),
  'lib/clean-text.ts cleanText': (text) => cleanText(text, 512),
  'lib/clean-text.ts cutText': (text) => cutText(text, 512),
  'lib/clean-text.ts trimBoth': (text) => trimBoth(text, '/'),
  'features/forms/rules/check-fields.ts listAddresses': (text) => listAddresses(text, true),
  'lib/url-query.ts mergeQuery': (text) => mergeQuery(`https://example.com/?${text}`, text, () => true),
  'lib/clean-text.ts trimEnd': (text) => trimEnd(text, '.'),
  'features/visitors/referrer-spam.ts isBelowHost': (text) => isBelowHost(text, new Set(['a'])),
  'features/visitors/kept-params.ts extractKeptParams': (text) =>
    extractKeptParams(text, ['a', 'b'], (_, value) => value),
  'features/hits/spool/raw-hit.ts toSpooledQuery': (text) => toSpooledQuery(text, text),
  'lib/cursor.ts decodeCursor': (text) => decodeCursor(text, 'id'),
  'lib/formats/json-limits.ts scanJson': (text) =>
    scanJson(text, { depth: 20, values: 100_000, entries: 10_000 }),
  'lib/html/read-html.ts readHtml': (text) => readHtml({ headers: new Headers(), body: bytes(text) }),
  'lib/text.ts normalizeUnicode': (text) => [normalizeUnicode(text, 'NFKC'), normalizeUnicode(text, 'NFD')],
  'lib/url-query.ts appendQuery': (text) => appendQuery(`https://example.com/?${text}`, [['a', text]]),
  'lib/url-query.ts setParameters': (text) =>
    setParameters(`https://example.com/?${text}`, { utm_source: text }),
  'lib/web-url.ts checkUrl': (text) => checkUrl(text, { schemes: ['myapp:'] }),
}

/** Called with the text alone. */
const ALONE: Record<string, string[]> = {
  'features/accounts/access/api-key.ts': ['isApiKey', 'readBearer'],
  'features/accounts/auth/notices.ts': ['toNewDeviceNotice'],
  'features/forms/endpoint/fields.ts': ['toStorable'],
  'features/forms/endpoint/read-body.ts': ['isJson'],
  'features/forms/endpoint/redirect-target.ts': ['parseThanksPath'],
  'features/forms/markup.ts': ['toFieldLabel'],
  'features/forms/page-check/content-policy.ts': ['readContentPolicies'],
  'features/forms/endpoint/responses.ts': ['readAnswerShape'],
  'features/forms/replies/inert-text.ts': ['isLink', 'normalizeText'],
  'features/forms/replies/mailbox.ts': ['toMailbox', 'isAnswerable'],
  'features/forms/replies/reply-links.ts': ['parseLinkPath'],
  'features/forms/rules/field-pattern.ts': ['countClasses'],
  'features/forms/rules/languages.ts': ['hasTexts', 'getTexts'],
  'features/forms/rules/sender-language.ts': ['normalizeLocale', 'parseAcceptLanguage'],
  'features/forms/settings/control-fields.ts': ['hasControlPrefix', 'isControlField'],
  'features/forms/settings/next-hosts.ts': ['normalizeNextHost'],
  'features/forms/spam/find-links.ts': ['normalizeHost'],
  'features/forms/spam/fold-words.ts': ['foldLetters', 'foldWords', 'toWordPattern'],
  'features/forms/uploads/file-name.ts': ['toHarmlessName', 'toEnding'],
  'features/links/blocklist/parse-line.ts': ['parseBlocklistLine'],
  'features/links/names/domain-directory.ts': ['readHostName'],
  'features/links/names/emoji.ts': ['qualifyEmoji', 'dropSelectors'],
  'features/links/names/look-alikes.ts': ['findMixedWord'],
  'features/links/slug.ts': [
    'normalizeSlug',
    'findSlugProblem',
    'isPossibleSlug',
    'readRequestedSlug',
    'toSlugKey',
    'findShorterSlugs',
  ],
  'features/notify/channels/post-json.ts': ['toStringOrEmpty'],
  'features/notify/channels/mail-body.ts': ['toLines'],
  'features/notify/channels/safe-text.ts': ['removeControlCharacters', 'toOneLine'],
  'features/notify/channels/service-response.ts': ['listUrlSecrets', 'toRetryDelayMs'],
  'features/notify/templates/parse-template.ts': ['parseTemplate'],
  'features/redirect/pages.ts': ['notFoundPage', 'gonePage', 'methodNotAllowedPage'],
  'features/redirect/unfurlers.ts': ['isUnfurler'],
  'features/transfer/files/open-source-file.ts': ['recognizeCsvLayout', 'readCsvText'],
  'features/transfer/files/fields.ts': ['isTextValue', 'toPlainName'],
  'features/transfer/files/json-reader.ts': ['toElements'],
  'features/transfer/history/country-code.ts': ['findCountryCode'],
  'features/transfer/sources/short-url.ts': ['splitShortUrl', 'toHost', 'toSlug'],
  'features/transfer/sources/source-click.ts': ['toKnown'],
  'features/tracking/touch.ts': ['addAdClickIds'],
  'features/visitors/ad-click-ids.ts': ['parseAdClickIds'],
  'features/visitors/campaign.ts': ['cutUtmParameters', 'parseCampaign'],
  'features/hits/spool/raw-hit.ts': ['splitSpooledQuery'],
  'features/visitors/referrer-spam.ts': ['isReferrerSpam'],
  'features/visitors/referrer.ts': [
    'stripQuery',
    'cutReferrer',
    'toSiteHost',
    'isSpamReferrer',
    'readReferrerHost',
  ],
  'features/visitors/is-bot.ts': ['isBot'],
  'features/visitors/user-agent.ts': ['parseUserAgent'],
  'http/api-route.ts': ['parseId'],
  'http/client-address.ts': ['toRateLimitKey'],
  'http/fast-path/message-framing.ts': ['parseContentLength'],
  'http/html-page.ts': ['wantsJson'],
  'http/json-body.ts': ['isMultipartForm'],
  'http/request-host.ts': ['isHost'],
  'http/request-id.ts': ['requestId'],
  'http/request-path.ts': ['pathOf'],
  'http/static-file.ts': ['acceptsGzip'],
  'http/route-table.ts': ['toRouteTemplate'],
  'http/telemetry/request-metrics.ts': ['toKnownMethod'],
  'http/telemetry/watchdog-thread.ts': ['maskPath'],
  'http/validation.ts': ['refuseBrokenQuery'],
  'lib/browser-name.ts': ['describeBrowser'],
  'lib/date-range.ts': ['parseDateRange', 'isTimeZone'],
  'lib/clean-text.ts': ['trimInvisible'],
  'lib/country-code.ts': ['readCountryCode', 'toCountryFilter'],
  'lib/email.ts': ['isEmail', 'toEmailAddress'],
  'lib/money/currencies.ts': ['isCurrency'],
  'lib/normalize-origin.ts': ['normalizeOrigin'],
  'features/forms/endpoint/body-charset.ts': ['isCharsetField', 'toFormEncoding'],
  'lib/formats/charset.ts': ['parseCharset', 'findEncoding'],
  'lib/formats/csv-line.ts': ['toInertCell', 'toReversibleCell', 'fromReversibleCell'],
  'lib/formats/ordered-json.ts': ['orderedJson'],
  'lib/formats/parse-json.ts': ['parseJson'],
  'lib/ip-network.ts': ['parseNetwork'],
  'lib/parse-ip.ts': ['parseIpAddress', 'unmapAddress', 'isLoopback'],
  'lib/sliding-window.ts': ['toShortKey'],
  'lib/text.ts': [
    'isCleanText',
    'countCharacters',
    'foldCase',
    'percentDecode',
    'copyText',
    'quote',
    'isAscii',
    'foldMarks',
  ],
  'lib/user-agent.ts': ['deviceForTargeting'],
  'lib/web-url.ts': ['parseUrl', 'toAsciiHost', 'toServerName'],
  'storage/clients/device-models.ts': ['findModelDevice'],
  'storage/sources/traffic-channel.ts': [
    'toWord',
    'toSourceWord',
    'toSourceText',
    'findKnownSource',
    'readSource',
  ],
}

/** By file and name. Undefined: the function is called with the text alone. */
export const READERS: Record<string, TextReader | undefined> = {
  ...WITH_MORE,
  ...Object.fromEntries(
    Object.entries(ALONE).flatMap(([file, names]) => names.map((name) => [`${file} ${name}`, undefined])),
  ),
}

/** Functions of these rooms that need no run, by the reason. */
export const NOT_RUN: Record<string, string[]> = {
  'the text is ours or the operator’s': [
    'features/accounts/auth/auth-limits.ts resetLimits',
    'features/analytics/parameters.ts countedUntilHeader',
    'features/accounts/auth/auth-limits.ts signUpLimits',
    'features/accounts/auth/auth-limits.ts signUpMailLimits',
    'features/accounts/auth/auth-limits.ts tokenLimits',
    'features/forms/endpoint/endpoint-error.ts toEndpointError',
    'features/forms/rules/languages.ts translateError',
    'features/forms/settings/form-settings.ts parseOrNull',
    'features/forms/spam/number-features.ts decodeLesson',
    'features/forms/team-replies/schema.ts toReplyStatus',
    'features/transfer/history/chunk-files.ts isChunkOf',
    'features/forms/spam/features.ts toLabel',
    'http/fast-path/header-fields.ts isNamed',
    'features/links/slug.ts toReservedOnDomains',
    'features/links/slug.ts toReservedSlugs',
    'features/links/version.ts toEtag',
    'features/notify/channels/sent-request.ts parseStoredRequest',
    'features/tracking/intake-answer.ts toEventIdAnswer',
    'features/tracking/intake-answer.ts toFailureResponse',
    'http/error-response.ts toErrorResponse',
    'http/export-file.ts toFileNameHeader',
    'http/export-file.ts toFileSchema',
    'http/fast-path/header-fields.ts createByteTable',
    'http/file-body.ts toFileBody',
    'http/key-scope.ts parseStoredScopes',
    'http/request-path.ts createPathMatcher',
    'lib/crypto/placeholder.ts isPlaceholder',
    'lib/crypto/random.ts randomFrom',
    'lib/api-fields.ts must',
    'lib/failure.ts notFound',
    'lib/failure.ts unavailable',
    'lib/log.ts describeError',
    'lib/pagination.ts orderByCreation',
    'lib/pagination.ts orderById',
    'lib/telemetry/request-context.ts createRequestContext',
    'features/visitors/find-device.ts findDevice',
    'storage/sources/origin-sql.ts isOriginDimension',
    'storage/sources/origin-sql.ts toOriginSql',
    'storage/sources/origin-sql.ts toOriginSelect',
  ],
  'the text is bounded before: a slug, an address, a password, a list of a form’s settings': [
    'features/accounts/auth/auth-limits.ts signInLimits',
    'features/links/slug.ts listSimilarSlugs',
    'features/accounts/auth/password.ts checkUserPassword',
    'features/accounts/auth/password.ts hashUserPassword',
    'features/analytics/missing/edit-distance.ts countEdits',
    'features/analytics/missing/similar-slugs.ts listVariants',
    'features/analytics/missing/similar-slugs.ts pickClosest',
    'features/analytics/count-leads.ts toGroupKey',
    'lib/money/currencies.ts getDecimalPlaces',
    'lib/money/amount.ts findAmountProblem',
    'lib/money/amount.ts toSmallestUnits',
    'features/accounts/brand/brand.ts parseBrand',
    'features/accounts/brand/brand.ts mergeBrands',
    'features/accounts/brand/brand.ts toLogoPath',
    'features/accounts/brand/clean-png.ts cleanPng',
    'features/accounts/brand/contrast.ts contrastWithWhite',
    'features/accounts/brand/png-data-url.ts readPngDataUrl',
    'features/accounts/brand/contrast.ts toDarker',
    'features/accounts/brand/contrast.ts toLighter',
    'features/forms/page-check/finding.ts quoteList',
    'features/forms/uploads/file-response.ts toAttachment',
    'features/redirect/pages.ts domainPage',
    'features/accounts/auth/common-passwords.ts isCommonPassword',
    'features/forms/rules/field-pattern.ts matchesPattern',
    'features/forms/settings/allowed-origins.ts isHostAllowed',
    'features/forms/settings/allowed-origins.ts isOriginAllowed',
    'features/forms/settings/next-hosts.ts isNextAllowed',
    'features/forms/uploads/accepted-type.ts isAccepted',
    'features/forms/uploads/zip-submission-files.ts toUniqueNames',
    'features/redirect/destination.ts withClickId',
    'features/transfer/history/day-visitor.ts toDayVisitor',
    'http/address-policy.ts isAllowedAddress',
    'http/direct-request.ts isDirectRequest',
    'lib/telemetry/request-board.ts enterFastPath',
    'lib/crypto/password.ts checkPassword',
    'lib/ip-network.ts isInNetworks',
  ],
  'another row runs it': [
    'features/redirect/pages.ts blockedPage',
    'features/redirect/pages.ts unavailablePage',
    'http/fast-path/header-fields.ts startsWith',
    'lib/crypto/sha256.ts sha256Hex',
    'lib/formats/zstd-frames.ts areWholeZstdFrames',
    'lib/formats/zstd-frames.ts readZstdFrames',
    'lib/formats/zstd-frames.ts toZstdFrame',
    'lib/parse-ip.ts parseIPv4',
    'lib/parse-ip.ts parseIPv6',
  ],
}

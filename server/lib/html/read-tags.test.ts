import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../tests/support/suite.ts'
import { readTags, type Tag } from './read-tags.ts'

async function listTags(html: string, sliceLength?: number): Promise<Tag[]> {
  const tags: Tag[] = []
  await readTags(html, (tag) => tags.push(tag), { sliceLength })
  return tags
}

const tagsOf = async (html: string) =>
  (await listTags(html)).map(({ name, end, attributes }) =>
    [end ? `/${name}` : name, ...[...attributes].map(([key, value]) => `${key}=${value}`)].join(' '),
  )

describe('the tags of a page', () => {
  test.each([
    ['<FORM Action="/a" METHOD=post>', ['form action=/a method=post']],
    ["<a x='1' y = 2 z>", ['a x=1 y=2 z=']],
    ['<a x=1 X=2>', ['a x=1']],
    ['<br/><img src=a/b/>', ['br', 'img src=a/b/']],
    ['<input value="a>b">', ['input value=a>b']],
    [
      '<meta content="&#39;self&#39; &#x68;ttps&colon;&sol;&sol;x&amp;y&lt&nope;">',
      ["meta content='self' https://x&y<&nope;"],
    ],
    ['<a x="&#0;&#xd800;&#x110000;">', ['a x=\ufffd\ufffd\ufffd']],
    ['<!-- <form> --><p>', ['p']],
    ['<!--><p>--><b>', ['p', 'b']],
    ['<!-- a --!><p>', ['p']],
    ['<!doctype html><?xml ?></ x><p>', ['p']],
    ['<script>"<form>"</script><p>', ['script', '/script', 'p']],
    ['<script><form></scriptx></SCRIPT ><p>', ['script', '/script', 'p']],
    ['<textarea><input></textarea><title><b></title>', ['textarea', '/textarea', 'title', '/title']],
    ['<noscript><form></noscript><p>', ['noscript', '/noscript', 'p']],
    ['<svg><title><b></title><script/></svg><p>', ['svg', 'title', 'b', '/title', 'script', '/svg', 'p']],
    ['<plaintext><form>', ['plaintext']],
    ['<script><!--<script></script><form>--></script><p>', ['script', '/script', 'p']],
    ['<svg><![CDATA[<form>]]></svg><p>', ['svg', '/svg', 'p']],
    ['<svg/><title><b></title>', ['svg', 'title', '/title']],
    ['<a x="&copy;&notit;&Aacute" y=&amp;z>', ['a x=©&notit;Á y=&z']],
    ['<p <b>', ['p <b=']],
    ['a < b <3 <', []],
    ['<form action="x', []],
    ['<form action="x><p>', []],
    ['<form', []],
    ['<!-- <p>', []],
    ['<script><p>', ['script']],
  ])('%p', async (html, tags) => {
    expect(await tagsOf(html)).toEqual(tags)
    expect(await listTags(html, 1)).toEqual(await listTags(html))
  })

  test('have their first thousand attributes', async () => {
    const html = `<form ${Array.from({ length: 80_000 }, (_, i) => `a${i}=${i}`).join(' ')}>`
    const [form] = await listTags(html)
    expect(form?.attributes.size).toBe(1_000)
    expect(form?.attributes.get('a999')).toBe('999')
  })

  test('are read from any text to its end', async () => {
    const parts = [
      '<',
      '>',
      '/',
      '"',
      "'",
      '=',
      ' ',
      '!--',
      '-->',
      'form',
      'script',
      'a',
      '&#39;',
      '\0',
      'ü',
      '<p x="',
    ]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...parts), { maxLength: 60 }), async (picked) => {
        const tags = await listTags(picked.join(''))
        for (const tag of tags) expect(tag.name).not.toBe('')
        // Where the slices end makes no difference.
        expect(await listTags(picked.join(''), 3)).toEqual(tags)
      }),
      { numRuns: atScale({ quick: 200, full: 2000, soak: 2000 }) },
    )
  })
})

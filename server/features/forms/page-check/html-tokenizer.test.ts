import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readTags } from './html-tokenizer.ts'
import { parsePage } from './parse-page.ts'

const tagsOf = (html: string) =>
  [...readTags(html)].map(({ name, end, attributes }) =>
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
    ['<p <b>', ['p <b=']],
    ['a < b <3 <', []],
    ['<form action="x', []],
    ['<form action="x><p>', []],
    ['<form', []],
    ['<!-- <p>', []],
    ['<script><p>', ['script']],
  ])('%p', (html, tags) => {
    expect(tagsOf(html)).toEqual(tags)
  })

  test('are read from anything, and always to the end', () => {
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
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 60 }), (picked) => {
        for (const tag of readTags(picked.join(''))) expect(tag.name).not.toBe('')
        parsePage(picked.join(''))
      }),
      { numRuns: 2000 },
    )
  })

  // A page is anybody's, and there is one thread: 900 KB of the worst must not hold it up.
  const SIZE = 900_000
  test.each(
    [
      '<div></span>',
      '<form>',
      '<p class=a>',
      '<',
      '</',
      '<!--',
      '<a x="',
      "<a x='",
      '<script>',
      '<a ',
      '<template>',
      '<input form=a name=_gotcha>',
      '<fieldset disabled><input>',
      '&#39;',
      '<svg>',
      ' = ',
      '<b a=\t',
    ].flatMap((part) => [
      [part, part.repeat(SIZE / part.length)],
      [`<a ${part}`, `<a ${part.repeat(SIZE / part.length)}`],
      [`<form>${part}`, `<form>${part.repeat(SIZE / part.length)}`],
    ]),
  )('are read quickly: %s …', (_, html) => {
    const started = performance.now()
    parsePage(html)
    expect(performance.now() - started).toBeLessThan(1500)
  })

  test('are read quickly where starts and ends never meet', () => {
    const started = performance.now()
    parsePage(`<form>${'<div>'.repeat(60_000)}${'</span>'.repeat(60_000)}`)
    expect(performance.now() - started).toBeLessThan(1500)
  })
})

describe('the forms of a page', () => {
  const names = (html: string) =>
    parsePage(html).forms.map(({ controls }) => controls.map(({ name }) => name).join())

  test.each([
    ['<form><input name=a></form><input name=b>', ['a']],
    ['<form><div><input name=a></form><input name=b></div>', ['a']],
    ['<div><form></div><input name=a></form><input name=b>', ['a']],
    ['<table><tr><form><td><input name=a></tr><tr><input name=b></table></form>', ['a,b']],
    ['<form><form><input name=a></form><input name=b></form>', ['a']],
    ['<form id=f></form><form><input name=a form=f><input name=b></form>', ['a', 'b']],
    ['<input name=a form=f><form id=f></form>', ['a']],
    ['<input name=a form=other><form id=f></form>', ['']],
    ['<template><form><input name=a></form></template><form><input name=b></form>', ['b']],
    [
      '<form><template><input name=a></template><select name=s></select><textarea name=t></textarea></form>',
      ['s,t'],
    ],
    ['<form><input name=a>', ['a']],
  ])('have the controls that a browser gives them: %s', (html, expected) => {
    expect(names(html)).toEqual(expected)
  })
})

// Bends a good request of an operation in one place at a time, for every place that the document knows.

import { bodyCases } from './body-cases.ts'
import { type Case, type Pick, show } from './case.ts'
import { bodySchema, type Operation, type Parameter, parametersIn, type Schema } from './document.ts'
import { BAD_ENCODINGS, NUL, ODD_TEXTS, UNKNOWN_NAMES } from './hostile.ts'
import { mayRepeat, parameterIsBad } from './judge.ts'
import { firstBody, type Sample, urlOf } from './samples.ts'

export function casesOf(operation: Operation, sample: Sample, pick: Pick): Case[] {
  return [
    ...queryCases(operation, sample, pick),
    ...pathCases(operation, sample, pick),
    ...(bodySchema(operation) ? bodyCases(operation, sample, pick) : []),
    ...headerCases(operation, sample),
  ]
}

function queryCases(operation: Operation, sample: Sample, pick: Pick): Case[] {
  const body = firstBody(sample)
  /** @param added raw, as it stands in the address */
  const asked = (what: string, bad: boolean, without: string, added: string, status?: number): Case => {
    const { [without]: _, ...query } = sample.query ?? {}
    const url = urlOf(operation, { ...sample, query })
    return { what, bad, status, url: `${url}${url.includes('?') ? '&' : '?'}${added}`, body }
  }
  const known = parametersIn('query', operation).flatMap((parameter) => {
    const { name, schema } = parameter
    const one = (text: string) =>
      asked(
        `${name}=${show(text)}`,
        parameterIsBad(parameter, text),
        name,
        `${name}=${encodeURIComponent(text)}`,
      )
    const good = encodeURIComponent(goodText(parameter, sample))
    const texts = [NUL, ...pick(ODD_TEXTS, 4), ...edges(schema)]
    return [
      ...texts.map(one),
      ...pick(BAD_ENCODINGS, 1).map((raw) => asked(`${name}=${raw}`, true, name, `${name}=${raw}`)),
      asked(`${name} twice`, !mayRepeat(parameter, operation.id), name, `${name}=${good}&${name}=${good}`),
      asked(`${name}[]`, true, '', `${name}[]=${good}`, 422),
      asked(`${name}[a]`, true, '', `${encodeURIComponent(`${name}[a]`)}=${good}`, 422),
      ...(parameter.required ? [asked(`no ${name}`, true, name, '', 422)] : []),
    ]
  })
  const unknown = pick(UNKNOWN_NAMES, 7).flatMap((name) => [
    asked(`unknown parameter ${show(name)}`, true, '', `${encodeURIComponent(name)}=1`, 422),
  ])
  return [...known, ...unknown, asked('unknown parameter %FF', true, '', '%FF=1')]
}

/** Something the parameter takes, so that only what is done with it is wrong. */
function goodText({ name, schema }: Parameter, sample: Sample): string {
  if (sample.query?.[name] !== undefined) return sample.query[name]
  if (schema.enum) return String(schema.enum[0])
  if (schema.type === 'integer') return String(schema.minimum ?? 1)
  return name.endsWith('Id') ? '1' : 'a'
}

function edges({ type, minimum, maximum, maxLength }: Schema): string[] {
  if (type === 'integer') return [Number(minimum ?? 1) - 1, Number(maximum ?? 2 ** 53) + 1].map(String)
  // Longer ones never reach us: the server's limit for a request's head is 16 KB.
  return maxLength === undefined ? ['x'.repeat(9000)] : ['x'.repeat(maxLength + 1)]
}

/** An id is a number as we print it; whatever else a parser would take for it is not that thing's name. */
function pathCases(operation: Operation, sample: Sample, pick: Pick): Case[] {
  const body = firstBody(sample)
  return parametersIn('path', operation).flatMap(({ name }) => {
    const id = String(sample.path?.[name])
    const aliases = [
      `0${id}`,
      `+${id}`,
      `-${id}`,
      ` ${id}`,
      `${id} `,
      `${id}.0`,
      `${id}e0`,
      `${id},${id}`,
      `0x${id}`,
    ]
    const texts = [
      ...aliases,
      `${id}\0`,
      `${id}\n`,
      `${id};`,
      '0',
      '1'.repeat(16),
      '9'.repeat(400),
      ...pick(ODD_TEXTS, 8),
    ]
    const raw = [
      ...texts.filter((text) => !/^\.*$/.test(text)).map(encodeURIComponent),
      ...pick(BAD_ENCODINGS, 3),
    ]
    return [...raw, `${id}%2F`, `${id}/x`, 'x'.repeat(8000)].map((text) => ({
      what: `path ${name} ${show(text)}`,
      bad: true,
      url: urlOf({ ...operation, path: operation.path.replace(`{${name}}`, text) }, sample),
      body,
    }))
  })
}

function headerCases(operation: Operation, sample: Sample): Case[] {
  const body = firstBody(sample)
  const url = urlOf(operation, sample)
  return parametersIn('header', operation).flatMap(({ name }) =>
    ['', 'two words', 'x'.repeat(256), 'x'.repeat(4000), 'caf\u00e9', 'a\tb'].map((value) => ({
      what: `header ${name}: ${show(value)}`,
      bad: true,
      status: 422,
      url,
      headers: { 'Content-Type': 'application/json', [name]: value },
      body,
    })),
  )
}

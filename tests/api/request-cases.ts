// Bends a good request of an operation in one place at a time, for every place that the document knows.

import { createBodyCases } from './body-cases.ts'
import { mayRepeat, mustRefuseParameter } from './expected-refusal.ts'
import { BAD_ENCODINGS, NUL, ODD_TEXTS, UNKNOWN_NAMES } from './hostile-input.ts'
import {
  findBodySchema,
  listParameters,
  type Operation,
  type Parameter,
  type Schema,
} from './openapi-document.ts'
import { type PickSome, type RequestCase, toShortText } from './request-case.ts'
import { type SampleRequest, toFirstBody, toRequestUrl } from './sample-requests.ts'

export function createRequestCases(
  operation: Operation,
  sample: SampleRequest,
  pick: PickSome,
): RequestCase[] {
  return [
    ...queryCases(operation, sample, pick),
    ...pathCases(operation, sample, pick),
    ...(findBodySchema(operation) ? createBodyCases(operation, sample, pick) : []),
    ...headerCases(operation, sample),
  ]
}

function queryCases(operation: Operation, sample: SampleRequest, pick: PickSome): RequestCase[] {
  const body = toFirstBody(sample)
  /** @param added raw, as it stands in the address */
  const asked = (
    what: string,
    bad: boolean,
    without: string,
    added: string,
    status?: number,
  ): RequestCase => {
    const { [without]: _, ...query } = sample.query ?? {}
    const url = toRequestUrl(operation, { ...sample, query })
    return {
      description: what,
      mustBeRefused: bad,
      status,
      url: `${url}${url.includes('?') ? '&' : '?'}${added}`,
      body,
    }
  }
  const known = listParameters('query', operation).flatMap((parameter) => {
    const { name, schema } = parameter
    const one = (text: string) =>
      asked(
        `${name}=${toShortText(text)}`,
        mustRefuseParameter(parameter, text),
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
    asked(`unknown parameter ${toShortText(name)}`, true, '', `${encodeURIComponent(name)}=1`, 422),
  ])
  return [...known, ...unknown, asked('unknown parameter %FF', true, '', '%FF=1')]
}

/** Something the parameter takes, so that only what is done with it is wrong. */
function goodText({ name, schema }: Parameter, sample: SampleRequest): string {
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
function pathCases(operation: Operation, sample: SampleRequest, pick: PickSome): RequestCase[] {
  const body = toFirstBody(sample)
  return listParameters('path', operation).flatMap(({ name }) => {
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
      description: `path ${name} ${toShortText(text)}`,
      mustBeRefused: true,
      url: toRequestUrl({ ...operation, path: operation.path.replace(`{${name}}`, text) }, sample),
      body,
    }))
  })
}

function headerCases(operation: Operation, sample: SampleRequest): RequestCase[] {
  const body = toFirstBody(sample)
  const url = toRequestUrl(operation, sample)
  return listParameters('header', operation).flatMap(({ name }) =>
    ['', 'two words', 'x'.repeat(256), 'x'.repeat(4000), 'caf\u00e9', 'a\tb'].map((value) => ({
      description: `header ${name}: ${toShortText(value)}`,
      mustBeRefused: true,
      status: 422,
      url,
      headers: { 'Content-Type': 'application/json', [name]: value },
      body,
    })),
  )
}

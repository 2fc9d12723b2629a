// Creates variants of a valid request, each with one invalid parameter, header or body field of the OpenAPI document.

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
  /** @param added the raw text that is added to the URL */
  const toCase = (
    description: string,
    mustBeRefused: boolean,
    without: string,
    added: string,
    status?: number,
  ): RequestCase => {
    const { [without]: _, ...query } = sample.query ?? {}
    const url = toRequestUrl(operation, { ...sample, query })
    return {
      description,
      mustBeRefused,
      status,
      url: `${url}${url.includes('?') ? '&' : '?'}${added}`,
      body,
    }
  }
  const known = listParameters('query', operation).flatMap((parameter) => {
    const { name, schema } = parameter
    const withText = (text: string) =>
      toCase(
        `${name}=${toShortText(text)}`,
        mustRefuseParameter(parameter, text),
        name,
        `${name}=${encodeURIComponent(text)}`,
      )
    const validText = encodeURIComponent(findValidText(parameter, sample))
    const texts = [NUL, ...pick(ODD_TEXTS, 4), ...listTextsBeyondLimits(schema)]
    return [
      ...texts.map(withText),
      ...pick(BAD_ENCODINGS, 1).map((raw) => toCase(`${name}=${raw}`, true, name, `${name}=${raw}`)),
      toCase(
        `${name} twice`,
        !mayRepeat(parameter, operation.id),
        name,
        `${name}=${validText}&${name}=${validText}`,
      ),
      toCase(`${name}[]`, true, '', `${name}[]=${validText}`, 422),
      toCase(`${name}[a]`, true, '', `${encodeURIComponent(`${name}[a]`)}=${validText}`, 422),
      ...(parameter.required ? [toCase(`no ${name}`, true, name, '', 422)] : []),
    ]
  })
  const unknown = pick(UNKNOWN_NAMES, 7).flatMap((name) => [
    toCase(`unknown parameter ${toShortText(name)}`, true, '', `${encodeURIComponent(name)}=1`, 422),
  ])
  return [...known, ...unknown, toCase('unknown parameter %FF', true, '', '%FF=1')]
}

/** @returns a valid text for the parameter, so that only its use is invalid */
function findValidText({ name, schema }: Parameter, sample: SampleRequest): string {
  if (sample.query?.[name] !== undefined) return sample.query[name]
  const words = schema.enum ?? schema.anyOf?.[0]?.enum
  if (words) return String(words[0])
  if (schema.type === 'integer') return String(schema.minimum ?? 1)
  return name.endsWith('Id') ? '1' : 'a'
}

function listTextsBeyondLimits({ type, minimum, maximum, maxLength }: Schema): string[] {
  if (type === 'integer') return [Number(minimum ?? 1) - 1, Number(maximum ?? 2 ** 53) + 1].map(String)
  // Longer texts never reach the API: the server's limit for the head of a request is 16 KB.
  return maxLength === undefined ? ['x'.repeat(9000)] : ['x'.repeat(maxLength + 1)]
}

/** An id in a path must be written exactly as the API prints it. Other spellings of the same number are refused. */
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

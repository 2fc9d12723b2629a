// An OpenID Connect provider (https://openid.net/specs/openid-connect-core-1_0.html): discovery, authorization code
// with PKCE, and a signed ID token. It shows no page: the user whom a test sets consents at once.

import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'

export interface OidcIdentity {
  sub: string
  email?: string
  email_verified?: boolean
  name?: string
}

export interface IdentityProvider {
  issuer: string
  clientId: string
  clientSecret: string
  /** The user who is signed in at the provider. */
  identity: OidcIdentity
  /** Changes the claims of the next ID tokens, as a dishonest provider would. */
  changeClaims: (claims: Record<string, unknown>) => Record<string, unknown>
  /** The paths of all requests so far. */
  requestedPaths: string[]
  close(): Promise<void>
}

interface Code {
  identity: OidcIdentity
  redirectUri: string
  challenge: string
  nonce: string
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

export function startIdentityProvider(): IdentityProvider {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = { ...keys.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }
  const codes = new Map<string, Code>()
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  const issuer = `http://127.0.0.1:${server.port}`
  const provider: IdentityProvider = {
    issuer,
    clientId: 'towpath',
    clientSecret: 'the client’s secret & more',
    identity: { sub: '1' },
    changeClaims: (claims) => claims,
    requestedPaths: [],
    close: () => server.stop(true),
  }

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    provider.requestedPaths.push(url.pathname)
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return Response.json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          userinfo_endpoint: `${issuer}/userinfo`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['ES256'],
        })
      case '/jwks':
        return Response.json({ keys: [jwk] })
      case '/authorize':
        return authorize(url.searchParams)
      case '/token':
        return token(request, new URLSearchParams(await request.text()))
      default:
        return new Response('', { status: 404 })
    }
  }

  function authorize(parameters: URLSearchParams): Response {
    const get = (name: string) => parameters.get(name) ?? ''
    const isInvalid =
      get('client_id') !== provider.clientId ||
      get('response_type') !== 'code' ||
      get('code_challenge_method') !== 'S256' ||
      !get('scope').split(' ').includes('openid')
    if (isInvalid) return new Response('invalid_request', { status: 400 })
    const code = randomUUID()
    const redirectUri = get('redirect_uri')
    codes.set(code, {
      identity: provider.identity,
      redirectUri,
      challenge: get('code_challenge'),
      nonce: get('nonce'),
    })
    const callback = new URL(redirectUri)
    callback.searchParams.set('code', code)
    callback.searchParams.set('state', get('state'))
    return Response.redirect(callback.href, 302)
  }

  function token(request: Request, parameters: URLSearchParams): Response {
    const refuse = (error: string) => Response.json({ error }, { status: 400 })
    if (!isClient(request, parameters)) return refuse('invalid_client')
    const code = codes.get(parameters.get('code') ?? '')
    codes.delete(parameters.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(parameters.get('code_verifier') ?? '')
      .digest('base64url')
    const isValid =
      code && code.challenge === challenge && code.redirectUri === parameters.get('redirect_uri')
    if (!isValid) return refuse('invalid_grant')
    const seconds = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuer,
      aud: provider.clientId,
      iat: seconds,
      exp: seconds + 300,
      nonce: code.nonce,
    }
    return Response.json({
      access_token: 'cAnArY-access',
      refresh_token: 'cAnArY-refresh',
      token_type: 'Bearer',
      expires_in: 300,
      id_token: toSignedJwt(provider.changeClaims({ ...claims, ...code.identity })),
    })
  }

  function isClient(request: Request, parameters: URLSearchParams): boolean {
    const basic = /^Basic (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
    const [id, secret] = basic
      ? Buffer.from(basic, 'base64').toString().split(':').map(decodeFormText)
      : [parameters.get('client_id'), parameters.get('client_secret')]
    return id === provider.clientId && secret === provider.clientSecret
  }

  function toSignedJwt(claims: object): string {
    const head = `${base64url({ alg: 'ES256', kid: jwk.kid, typ: 'JWT' })}.${base64url(claims)}`
    const key = { key: keys.privateKey, dsaEncoding: 'ieee-p1363' as const }
    return `${head}.${sign('sha256', Buffer.from(head), key).toString('base64url')}`
  }
  return provider
}

const decodeFormText = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))

// Settings of the clients that may read /metrics and /version, besides this machine.

import { isPlaceholder } from '../lib/crypto/placeholder.ts'
import type { Network } from '../lib/ip-network.ts'
import { readNetworks } from './address-settings.ts'
import type { GetSetting, ProblemReporter } from './setting.ts'

export interface MetricsSettings {
  metricsAllow: Network[]
  metricsToken?: string
}

const TOKEN_MIN = 16

export function readMetrics(get: GetSetting, wrong: ProblemReporter): MetricsSettings {
  return {
    metricsAllow: readNetworks('METRICS_ALLOW', get, wrong),
    metricsToken: readToken(get('METRICS_TOKEN'), wrong),
  }
}

function readToken(text: string | undefined, wrong: ProblemReporter): string | undefined {
  if (text === undefined) return undefined
  const fix = 'Use 16 or more random characters (openssl rand -hex 16), or leave it out.'
  if (!/^[!-~]+$/.test(text)) wrong('METRICS_TOKEN', 'has characters that a header cannot carry', fix)
  else if (text.length < TOKEN_MIN) wrong('METRICS_TOKEN', `has only ${text.length} characters`, fix)
  else if (isPlaceholder(text)) wrong('METRICS_TOKEN', 'is a placeholder', fix)
  return text
}

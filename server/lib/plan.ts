// The plans, and their limits of API requests per minute and workspace (docs/contract.md §1).

export const PLANS = ['free', 'pro', 'business', 'scale', 'enterprise'] as const
export type Plan = (typeof PLANS)[number]

/** Maximum number of custom domains of a workspace (docs/contract.md §10). */
export const DOMAINS_PER_WORKSPACE: Record<Plan, number> = {
  free: 0,
  pro: 1,
  business: 5,
  scale: 20,
  enterprise: Number.POSITIVE_INFINITY,
}

/** 0 means no API access. */
export const REQUESTS_PER_MINUTE: Record<Plan, number> = {
  free: 0,
  pro: 30,
  business: 60,
  scale: 120,
  enterprise: 300,
}

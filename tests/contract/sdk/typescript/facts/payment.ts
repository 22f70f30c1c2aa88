/** What `tests/judges/sdk/payment_stage.py` tells. */
export interface Facts {
  payment_method_id: string;
  chain_id: number;
  token_symbol: string;
}

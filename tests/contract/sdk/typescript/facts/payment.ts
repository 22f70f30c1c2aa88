/** The facts of `tests/contract/sdk/payment_stage.py`. */
export interface Facts {
  payment_method_id: string;
  chain_id: number;
  token_symbol: string;
}

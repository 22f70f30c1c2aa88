// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IToken {
    function transfer(address to, uint256 value) external returns (bool);
}

/// @title A customer that is a contract: an exchange's hot wallet, a multisig, a batch payer.
/// @notice For tests. It spends the tokens it holds, so the Transfer log names this contract as the sender
///         and the transaction's own `to` is neither the token nor the deposit address.
contract PayFromContract {
    function pay(IToken token, address to, uint256 value) external {
        require(token.transfer(to, value), "the token refused the transfer");
    }

    /// @notice Two transfers, two logs, one transaction.
    function payTwice(IToken token, address to, uint256 first, uint256 second) external {
        require(token.transfer(to, first), "the token refused the first transfer");
        require(token.transfer(to, second), "the token refused the second transfer");
    }
}

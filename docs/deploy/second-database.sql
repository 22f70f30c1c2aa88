CREATE DATABASE specd_chat;
